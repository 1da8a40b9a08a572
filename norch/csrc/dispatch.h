// The dispatch: kernels::softmax.launch(device, x, out) runs softmax_tensor_cpu or softmax_tensor_cuda.
//
// There is a Kernel for each row of kernels.h. host/instruction_sets.cpp fills its slots when the library is loaded.

#pragma once
#include "kernels.h"
#include "recording/recording.h"

// Which narrow dtypes a kernel takes
enum Taken : uint8_t { NO_NARROW, ALL_NARROW };
inline bool takes(Taken taken, int32_t dtype) { return !is_narrow(dtype) || taken == ALL_NARROW; }

// An argument of a kernel without narrow dtypes: a narrow tensor is widened, and if the kernel may write it, narrowed
// again when the kernel has run. Whatever is no tensor passes.
template <class T>
struct Widened {
    T value;
    explicit Widened(T value) : value(value) {}
    static bool fits(Taken, T) { return true; }
    T get() { return value; }
    void finish() {}
};
template <>
struct Widened<Tensor*> {
    Tensor* given;
    Owned wide;
    explicit Widened(Tensor* tensor) : given(tensor), wide(fits(NO_NARROW, tensor) ? Owned() : widened(*tensor)) {}
    static bool fits(Taken taken, const Tensor* tensor) { return !tensor || takes(taken, tensor->dtype); }
    Tensor* get() { return wide.tensor ? wide.tensor : given; }
    void finish() {
        if (wide.tensor) assign(*wide, *given);
    }
};
template <>
struct Widened<Tensor&> : Widened<Tensor*> {
    explicit Widened(Tensor& tensor) : Widened<Tensor*>(&tensor) {}
    static bool fits(Taken taken, const Tensor& tensor) { return takes(taken, tensor.dtype); }
    Tensor& get() { return *Widened<Tensor*>::get(); }
};
template <>
struct Widened<const Tensor*> : Widened<Tensor*> {
    explicit Widened(const Tensor* tensor) : Widened<Tensor*>(const_cast<Tensor*>(tensor)) {}
    void finish() {}
};
template <>
struct Widened<const Tensor&> : Widened<Tensor&> {
    explicit Widened(const Tensor& tensor) : Widened<Tensor&>(const_cast<Tensor&>(tensor)) {}
    void finish() {}
};
template <>
struct Widened<Tensor* const*> {  // the state of an optimizer
    Widened<Tensor*> states[3];
    Tensor* wide[3];
    explicit Widened(Tensor* const* state)
        : states{Widened<Tensor*>(state[0]), Widened<Tensor*>(state[1]), Widened<Tensor*>(state[2])} {}
    static bool fits(Taken, Tensor* const*) { return true; }  // it has the dtype of the parameter
    Tensor* const* get() {
        for (int k = 0; k < 3; k++) wide[k] = states[k].get();
        return wide;
    }
    void finish() {
        for (Widened<Tensor*>& state : states) state.finish();
    }
};

template <class Signature>
struct Kernel;

template <class... Arguments>
struct Kernel<void(Arguments...)> {
    const char* name;
    void (*slots[DEVICE_KIND_COUNT])(Arguments...);
    Taken narrow[DEVICE_KIND_COUNT];
    bool by_element = false;  // whether each element of the result depends on the same elements of the operands only

    // Every kernel that the library runs starts here, and leaves a Step if this thread records.
    void launch(int32_t device, Arguments... arguments) const {
        if (is_recording()) return launch_recorded(device, arguments...);
        run(device, arguments...);
    }

    void run(int32_t device, Arguments... arguments) const {
        const DeviceKind kind = kind_of(device);
        if ((Widened<Arguments>::fits(narrow[kind], arguments) && ...))
            slots[kind](arguments...);
        else
            launch_widened(kind, Widened<Arguments>(arguments)...);
    }

private:
    void launch_recorded(int32_t device, Arguments... arguments) const {
        Recording* recording = current_recording();
        {
            const RecordingPaused paused;
            run(device, arguments...);
        }
        if (recording)
            recording->add(std::make_unique<LaunchStep<Kernel, Arguments...>>(*this, device, *recording, arguments...));
    }
    void launch_widened(DeviceKind kind, Widened<Arguments>&&... widened) const {
        slots[kind](widened.get()...);
        (widened.finish(), ...);
    }
};

namespace kernels {
#define KERNEL(name, arguments) extern const Kernel<void arguments> name;
KERNELS
#undef KERNEL
}  // namespace kernels

// The signatures that many kernels share
using UnaryKernel = Kernel<void(const Tensor& x, Tensor& out)>;
using BinaryKernel = Kernel<void(const Tensor& x, const Tensor& y, Tensor& out)>;
using TernaryKernel = Kernel<void(const Tensor& c, const Tensor& x, const Tensor& y, Tensor& out)>;
using BoundedKernel = Kernel<void(const Tensor& c, const Tensor& x, const Tensor& y, const Tensor& z, Tensor& out)>;
