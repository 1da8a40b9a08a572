// The CUDA backend of a build without CUDA: no devices, and every kernel fails and says why.

#include "cuda/backend.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

bool cuda_is_built() { return false; }
int cuda_device_count() { return 0; }

const char* cuda_unavailable() {
    return "this norch was built without CUDA (CUDA=0); on a machine with nvcc rebuild with `make CUDA=1`";
}

[[noreturn]] static void fail_without_cuda() { fail(RUNTIME_ERROR, "{}", cuda_unavailable()); }

// A row becomes:  void add_tensor_cuda(const Tensor& x, const Tensor& y, Tensor& out) { fail_without_cuda(); }
#define KERNEL(name, arguments) void name##_tensor_cuda arguments { fail_without_cuda(); }
KERNELS
#undef KERNEL

void* cuda_allocate(int64_t nbytes, int32_t device) { fail_without_cuda(); }
void cuda_release(void* data, int64_t nbytes, int32_t device) noexcept {}  // nothing was ever allocated
void naive_matmul_cuda(const Tensor& a, const Tensor& b, Tensor& out) { fail_without_cuda(); }
void cuda_empty_cache() {}
void cuda_synchronize(int32_t device) { fail_without_cuda(); }
uint64_t cuda_stream(int32_t device) { fail_without_cuda(); }
void cuda_let_stream_wait(int32_t device, uint64_t stream) { fail_without_cuda(); }
void cuda_device_name(int32_t device, char* name, int64_t capacity) { fail_without_cuda(); }
void cuda_device_numbers(int32_t device, int64_t* numbers) { fail_without_cuda(); }
void cpu_to_cuda(const Tensor& source, Tensor& target) { fail_without_cuda(); }
void cuda_to_cpu(const Tensor& source, Tensor& target) { fail_without_cuda(); }
void cuda_to_cuda(const Tensor& source, Tensor& target) { fail_without_cuda(); }
CudaGraph* new_cuda_graph(int32_t device) { fail_without_cuda(); }
void enter_cuda_graph(CudaGraph* graph, bool capture) { fail_without_cuda(); }
void leave_cuda_graph(CudaGraph* graph) { fail_without_cuda(); }
bool cuda_graph_is_made(const CudaGraph* graph) { return false; }
void launch_cuda_graph(CudaGraph* graph) { fail_without_cuda(); }
void free_cuda_graph(CudaGraph* graph) noexcept {}
void copy_on_cuda(void* to, const void* from, int64_t nbytes, int32_t device) { fail_without_cuda(); }
