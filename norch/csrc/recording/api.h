// The part of the C API (api.h) for norch.compile: recordings, and the programs that are made of them.

#pragma once
#include "api/exported.h"
#include "core/interpreter.h"
#include "tensor.h"

struct Recording;
struct Program;
struct Saved;
enum { MAX_SHOWN = 24 };
struct StepShown {  // a step as Python prints it
    const char* name;
    int32_t operands;
    int32_t memory[MAX_SHOWN], place[MAX_SHOWN], written[MAX_SHOWN];  // memory -1: a number
    int32_t number[MAX_SHOWN];  // of the input, the result or the gradient that the memory is
    int64_t offset[MAX_SHOWN];  // in bytes: in the block, or from the memory's base
    const Tensor* tensor[MAX_SHOWN];
};
// `model` is null, or an earlier recording of the same call, which has to outlive the call of this one
API Recording* new_recording(int32_t count, Tensor* const* inputs, const char* own_folder, Recording* model,
                             int32_t notes_lines);
// call_within(changes, function, arguments, named) while this thread records. `standing` is what stands for functions of
// modules while any thread does: of each module (its names, {name: what stands there}, {name: what was there}).
API PythonObject* call_recorded(Recording* recording, PythonObject* changes, PythonObject* standing,
                                PythonObject* function, PythonObject* arguments, PythonObject* named);
API void free_recording(Recording* recording);
API int add_recording_inputs(Recording* recording, int32_t count, Tensor* const* inputs);  // the backward begins
API void refuse_this_recording(const char* why);                                           // this thread's, if any
API PythonObject* recording_refusal(Recording* recording);                                 // (why, file, line), or None
API PythonObject* recording_difference(Recording* recording);                              // from its model, likewise
API int32_t recording_uses(Recording* recording, int32_t first);  // whether it, or a later input, is used or written
// Of a recording, which must outlive it, and what the call left behind: how many results, gradients of leaves, results of
// its backward and others, and all of these tensors in this order
API Program* new_program(Recording* recording, const int64_t* counts, Tensor* const* tensors);
API void free_program(Program* program);
API int set_program_arguments(Program* program, PythonObject* arguments, int32_t count, Tensor* const* looked_at);
// 0 and the results in a list, -1 after an error, 1 if the arguments or the moment do not fit, 2 if a gradient of an
// earlier call is shared (program_gradient makes another)
API int replay_program(Program* program, PythonObject* noted, PythonObject* arguments, PythonObject* results);
API int64_t first_change(PythonObject* noted);  // of what a function looks at (recording/watching.cpp)
API int replay_backward(Program* program, Saved* saved, int32_t count, Tensor* const* gradients, PythonObject* results);
API void free_saved(Saved* saved);
API Tensor* program_gradient(Program* program, int32_t number);  // a new tensor, into which gradients go from now on
API int32_t gradient_is_free(Program* program, int32_t number);  // whether no other tensor shares its memory
API void set_program_options(Program* program, int32_t call, const char* options);
API void set_program_generator(Program* program, uint64_t* before, uint64_t* state);
// Before the last failure: 0 if nothing was written to a gradient, or a result, 1 if something was, 2 if all was
API int32_t program_written(Program* program, int32_t is_result, int32_t number);
API void release_program(Program* program);  // after a fork: whoever replayed is not here
API int32_t program_steps(Program* program, int32_t backward);
API int64_t program_bytes(Program* program, int32_t backward);  // of the blocks that it works in
API int step_of_program(Program* program, int32_t backward, int32_t number, StepShown* shown);
