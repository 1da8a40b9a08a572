// The CUDA backend: kernels (cuda.cu, or cuda/stub.cpp in a build without CUDA) and the memory of the device.

#pragma once
#include "kernels.h"

#define KERNEL(name, arguments) void name##_tensor_cuda arguments;
KERNELS
#undef KERNEL

// matmul_tensor_cuda as its definition has it: for tests of the tiled one.
void naive_matmul_cuda(const Tensor& a, const Tensor& b, Tensor& out);

bool cuda_is_built();            // whether this library holds CUDA kernels
int cuda_device_count();         // 0 without a driver or a device
const char* cuda_unavailable();  // why there is no device: how the library was built, or what the driver said
void* cuda_allocate(int64_t nbytes, int32_t device);  // null if the device has less
void cuda_release(void* data, int64_t nbytes, int32_t device) noexcept;
void cuda_empty_cache();                                     // gives memory that no tensor uses back to the driver
void cuda_synchronize(int32_t device);                       // waits until all queued work is done
uint64_t cuda_stream(int32_t device);                        // that norch's work is queued on, for other libraries
void cuda_let_stream_wait(int32_t device, uint64_t stream);  // another library's, until the work queued so far is done
void cuda_device_name(int32_t device, char* name, int64_t capacity);
void cuda_device_numbers(int32_t device, int64_t* numbers);  // the six of the C API's cuda_numbers
void cpu_to_cuda(const Tensor& source, Tensor& target);      // both contiguous, of one dtype and shape
void cuda_to_cpu(const Tensor& source, Tensor& target);
void cuda_to_cuda(const Tensor& source, Tensor& target);  // between two devices

// ---- Graphs ------------------------------------------------------------------------------------------------------

struct CudaGraph;
CudaGraph* new_cuda_graph(int32_t device);
// What this thread launches on the device until it leaves belongs to the graph. In a rehearsal it runs as ever, and the
// graph keeps the memory that the kernels work in; then it is captured, in that memory, without running.
void enter_cuda_graph(CudaGraph* graph, bool capture);
void leave_cuda_graph(CudaGraph* graph);          // a graph that was captured can be launched, if it became one
bool cuda_graph_is_made(const CudaGraph* graph);  // if not: what was captured cannot be part of a graph
void launch_cuda_graph(CudaGraph* graph);
void free_cuda_graph(CudaGraph* graph) noexcept;
void copy_on_cuda(void* to, const void* from, int64_t nbytes, int32_t device);
