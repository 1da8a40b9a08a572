// The C API that Python drives through ctypes (norch/prototypes.py declares the same in one table).
//
// Functions that build a tensor return it, owned by the caller until free_tensor, or null after an error; functions
// that return int give 0, or -1 after an error. error_kind() and error_message() then tell what went wrong in this
// thread. No function exits, prints or throws. Shapes are arrays of ndim sizes; axes may count from the end.

#pragma once
#include "api/layers.h"
#include "core/interpreter.h"
#include "kernels.h"
#include "recording/api.h"
#include "tensor.h"

// What a function with several results returns (api/objects.cpp): to CPython a tuple of Handles, 0 for a tensor that it
// left out, empty after an error; elsewhere their addresses in memory that free_results frees, null after an error.
struct Results {
    int64_t count;
    Tensor* tensors[1];  // as many as count says
};

// ---- Errors, memory and devices (api/runtime.cpp)
API int32_t error_kind();  // an ErrorKind; 0 if there was no error yet
API const char* error_message();
API int64_t memory_allocated(int32_t device);  // bytes of element data alive on a device
API int64_t memory_reserved(int32_t device);   // bytes taken from the system: with what waits in the cache
API void empty_cache();                        // gives the cached memory back to the system
API void set_cache_limit(int64_t nbytes);      // how much the cache may hold; empties it
API int64_t live_tensors();                    // Tensor structs alive
API void fail_allocation(int64_t countdown);   // for tests: the countdown-th allocation from now fails; 0 disarms
// Ticks at every write in place; nodes of the graph note the time.
extern "C" {
extern __attribute__((visibility("default"))) std::atomic<int64_t> write_clock;
}
API const char* instruction_set();          // "baseline", "avx2" or "avx512": which copy of the CPU kernels runs
API const char* instruction_set_error();    // why NORCH_ISA cannot be followed, or ""
API int32_t device_count();                 // CUDA devices; 0 without a driver, or in a build without CUDA
API int32_t has_cuda();                     // 1 if this build has CUDA kernels
API const char* cuda_name(int32_t device);  // as the driver calls it; null after an error
// Its compute capability (two numbers), multiprocessors, threads of a warp, bytes of memory, and those not in use.
API int cuda_numbers(int32_t device, int64_t* numbers);
API int synchronize(int32_t device);     // waits until all work queued on a CUDA device is done
API uint64_t stream_of(int32_t device);  // the CUDA stream that norch's work is queued on; 0 after an error
API int let_stream_wait(int32_t device, uint64_t stream);  // a stream of another library, for norch's work so far
API void empty_device_cache();  // gives memory of CUDA devices that no tensor uses back to the driver
API const char* why_no_cuda();  // how the library was built, or what the driver said
// "neg abs ...": the rows of ops/operations.h with 1, 2 or 3 operands; from 4 on: of the other lists (prototypes.py)
API const char* list_operations(int32_t arity);
API const char* list_rules(int32_t arity);  // "NUMERIC NUMERIC ...": how those with 1 or 2 treat dtypes

// ---- What a tensor is (its struct says the same; these are faster)
API int32_t ndim_of(Tensor* tensor);
API int32_t dtype_of(Tensor* tensor);
API int32_t device_of(Tensor* tensor);
API int64_t count_of(Tensor* tensor);  // of elements
API int64_t offset_of(Tensor* tensor);
API int64_t data_of(Tensor* tensor);          // the address of the first element
API int64_t storage_of(Tensor* tensor);       // the address of its storage, which tells it from others
API int32_t is_in_row_order(Tensor* tensor);  // without gaps

// ---- Creation and copies
// Copies the data
API Tensor* create_tensor(const void* data, const int64_t* shape, int32_t ndim, int32_t dtype, int32_t device);
API Tensor* empty_tensor(const int64_t* shape, int32_t ndim, int32_t dtype, int32_t device);  // values unset
API Tensor* number_tensor(double real, int64_t integer, int32_t dtype);  // a Python number: BOOL, INT64 or FLOAT64
API void free_tensor(Tensor* tensor);
API void free_results(Results* results);
API Tensor* alias_tensor(Tensor* tensor);                  // the same elements under a new handle
API Tensor* data_tensor(Tensor* tensor, Tensor* counted);  // its writes counted apart: from 0, or on from `counted`'s
API Tensor* clone_tensor(Tensor* tensor);                  // a copy in the same order of memory, without gaps
API Tensor* contiguous_tensor(Tensor* tensor);             // an alias if it already is
API Tensor* cast_tensor(Tensor* tensor, int32_t dtype);    // a copy in another dtype, stored in the same order
API Tensor* to_device(Tensor* tensor, int32_t device);     // a contiguous copy on another device
API int assign_tensor(Tensor* target, Tensor* source);     // target[...] = source, broadcast and cast
API int32_t write_result(Tensor* out, Tensor* result);     // the same if they are alike; else 1
// targets[k][...] = sources[k], each like its target: all of them or, if one does not fit, none
API int assign_all(int32_t count, Tensor* const* targets, Tensor* const* sources);
API int set_default_dtype(int32_t dtype);  // of Python's floats, and of integers that an operation makes floats of
API int32_t promoted_dtype(Tensor* tensor1, Tensor* tensor2);  // of an operation on tensors or numbers
// of a number, or of zeros if that is null
API Tensor* full_tensor(const int64_t* shape, int32_t ndim, int32_t dtype, int32_t device, Tensor* number);
API Tensor* empty_like_tensor(Tensor* tensor, int32_t dtype, int32_t device);  // its shape, and the order in memory
API Tensor* full_like_tensor(Tensor* tensor, Tensor* number);  // one value in another tensor's shape, dtype and device
API double get_item(Tensor* tensor, const int64_t* indices);   // one element; NaN after an error

// ---- Filled: evenly spaced numbers; random numbers by seed and number of the draw (ops/philox.h)
API Tensor* arange_tensor(double start, double step, int64_t size, int32_t dtype, int32_t device);
API Tensor* integer_arange_tensor(int64_t start, int64_t step, int64_t size, int32_t dtype, int32_t device);
API Tensor* linspace_tensor(double start, double end, int64_t size, int32_t dtype, int32_t device);
// Random numbers, by the next draw of a generator's state, {seed, draws}
API int uniform_into(Tensor* out, uint64_t* state, double low, double high);  // in [low, high)
API int uniform_again(Tensor* out, uint64_t seed, uint64_t draw);             // the numbers in [0, 1) of that draw
API int normal_into(Tensor* out, uint64_t* state, double mean, double std);
API int integers_into(Tensor* out, uint64_t* state, int64_t low, uint64_t range);  // low, ... low + range - 1
// 1 where a uniform number is below p, else 0; numbers of the exponential distribution of a rate
API int bernoulli_into(Tensor* out, Tensor* p, uint64_t* state);
API Tensor* bernoulli_tensor(Tensor* p, uint64_t* state);
API int exponential_into(Tensor* out, uint64_t* state, double rate);
// of the Cauchy distribution; exp of normal numbers; trials up to the first success, of probability p
API int cauchy_into(Tensor* out, uint64_t* state, double median, double sigma);
API int log_normal_into(Tensor* out, uint64_t* state, double mean, double std);
API int geometric_into(Tensor* out, uint64_t* state, double p);
// Poisson's counts of these means, or, of `chances`, successes of so many trials; in the dtype of `means`
API Tensor* counts_tensor(Tensor* means, Tensor* chances, uint64_t* state);
// int64: `count` places along the last axis of weights [n] or [rows, n], in proportion to them
API Tensor* multinomial_tensor(Tensor* weights, int64_t count, int32_t replacement, uint64_t* state);
// New tensors with the next draw of a generator, {seed, draws}; uniform in [0, 1)
API Tensor* uniform_tensor(const int64_t* shape, int32_t ndim, int32_t dtype, int32_t device, uint64_t* state);
API Tensor* normal_tensor(const int64_t* shape, int32_t ndim, int32_t dtype, int32_t device, uint64_t* state,
                          double mean, double std);
API Tensor* integers_tensor(const int64_t* shape, int32_t ndim, int32_t dtype, int32_t device, uint64_t* state,
                            int64_t low, uint64_t range);
API Tensor* permutation_tensor(int64_t size, uint64_t* state, int32_t dtype, int32_t device);
API uint64_t next_draw(uint64_t* state);  // of a generator, {seed, draws}: the number of its next draw
API void philox_block(uint64_t seed, uint64_t draw, uint64_t index, uint32_t* words);  // for tests: four words

// ---- Views: share storage, never copy (reshape_tensor copies if it must)
API Tensor* reshape_tensor(Tensor* tensor, const int64_t* shape, int32_t ndim);  // one size may be -1
API Tensor* view_tensor(Tensor* tensor, const int64_t* shape, int32_t ndim);     // an error instead of a copy
API Tensor* flatten_tensor(Tensor* tensor, int64_t first, int64_t last);         // axes from first to last as one
// place: {offset, axis, axis}; the diagonals of the matrices in the two axes, as the last axis
API Tensor* diagonal_tensor(Tensor* tensor, const int64_t* place);
API Tensor* reverse_tensor(Tensor* tensor);  // all axes in reverse order: the article's .T
API Tensor* transpose_tensor(Tensor* tensor, int64_t axis1, int64_t axis2);
API Tensor* permute_tensor(Tensor* tensor, const int64_t* axes, int32_t ndim);
API Tensor* expand_tensor(Tensor* tensor, const int64_t* shape, int32_t ndim);   // -1 keeps a size
API Tensor* squeeze_tensor(Tensor* tensor, const int64_t* axes, int32_t count);  // count -1: every axis of size 1
API Tensor* unsqueeze_tensor(Tensor* tensor, int64_t axis);
API Tensor* select_tensor(Tensor* tensor, int64_t axis, int64_t index);  // drops the axis
// x[parts]: `count` parts for the first axes, each {kind, start, stop, step}. An integer is `start`; a slice is Python's,
// of a positive step; None is a new axis; `...` stands for the axes that no other part stands for.
enum PartKind : int64_t { INTEGER_PART, SLICE_PART, NEW_AXIS, REST };
API Tensor* part_tensor(Tensor* tensor, const int64_t* parts, int32_t count);
// Parts along an axis: of the `count` sizes, its indices without the axis, at most `count` of one size, each `count`
// long, or `count` of sizes that differ by 1. Of one size the last may be smaller.
enum Splitting : int32_t { BY_SIZES, BY_INDEX, IN_CHUNKS, BY_LENGTH, IN_SECTIONS };
API Results* split_tensor(Tensor* tensor, int64_t axis, const int64_t* sizes, int64_t count, int32_t how);
API Tensor* slice_tensor(Tensor* tensor, int64_t axis, int64_t start, int64_t length, int64_t step);
// `count` moves of `axes`, or if that is null one move of all elements in row order: what leaves enters at the other end
API Tensor* roll_tensor(Tensor* tensor, const int64_t* moves, const int64_t* axes, int32_t count);
// A copy of x, seen with the sizes `split`, with these parts in another order, seen with the sizes `shape`
API Tensor* rearranged_tensor(Tensor* x, const int64_t* split, const int64_t* order, int32_t parts,
                              const int64_t* shape, int32_t rank);
// amounts: before and after the last axis, then the one before it, ...; negative ones take away. mode: ops/padding.h
API Tensor* pad_tensor(Tensor* tensor, const int64_t* amounts, int32_t count, Tensor* value, int32_t mode);
API Tensor* pad_backward(Tensor* gradient, const int64_t* shape, const int64_t* amounts, int32_t count, int32_t mode);
API Tensor* diag_embed_tensor(Tensor* tensor, const int64_t* place);  // zeros that have the tensor as this diagonal
API Tensor* repeat_tensor(Tensor* tensor, const int64_t* counts, int32_t rank);  // copies side by side; rank >= ndim
API Tensor* interleave_tensor(Tensor* tensor, int64_t count, int64_t axis);      // each index `count` times in a row
API Tensor* one_hot_tensor(Tensor* tensor, int64_t classes);  // int64: a last axis with a 1 at the place of the element
API Tensor* eye_tensor(int64_t rows, int64_t columns, int32_t dtype, int32_t device);
API Tensor* flipped_tensor(Tensor* tensor, const int64_t* axes, int32_t count);  // a copy: strides are never negative
API Tensor* view_as_dtype(Tensor* tensor, int32_t dtype);                        // the same bytes read as another dtype
API Tensor* as_strided_tensor(Tensor* tensor, const int64_t* shape, const int64_t* strides, int32_t ndim,
                              int64_t offset);

// ---- Elementwise operations: each row of ops/operations.h gives NAME_tensor, a new result, and NAME_into, which
//      writes it into out. Operands broadcast against each other and are promoted to a common dtype.
#define DECLARE_UNARY(name, rule, formula)      \
    API Tensor* name##_tensor(Tensor* tensor);  \
    API int name##_into(Tensor* out, Tensor* tensor);
UNARY_OPS(DECLARE_UNARY)
ACTIVATION_OPS(DECLARE_UNARY)
SPECIAL_OPS(DECLARE_UNARY)
#undef DECLARE_UNARY

#define DECLARE_BINARY(name, rule, formula)                        \
    API Tensor* name##_tensor(Tensor* tensor1, Tensor* tensor2);   \
    API int name##_into(Tensor* out, Tensor* tensor1, Tensor* tensor2);
BINARY_OPS(DECLARE_BINARY)
DERIVATIVE_OPS(DECLARE_BINARY)
LOSS_OPS(DECLARE_BINARY)
SHAPED_OPS(DECLARE_BINARY)
SPECIAL_PAIR_OPS(DECLARE_BINARY)
#undef DECLARE_BINARY

#define DECLARE_TERNARY(name, rule, formula)                                       \
    API Tensor* name##_tensor(Tensor* tensor1, Tensor* tensor2, Tensor* tensor3);  \
    API int name##_into(Tensor* out, Tensor* tensor1, Tensor* tensor2, Tensor* tensor3);
TERNARY_OPS(DECLARE_TERNARY)
SHAPED_DERIVATIVE_OPS(DECLARE_TERNARY)
#undef DECLARE_TERNARY

#define DECLARE_BOUNDED(name, rule, formula)                                                                  \
    API Tensor* name##_tensor(Tensor* tensor1, Tensor* tensor2, Tensor* tensor3, Tensor* number);             \
    API int name##_into(Tensor* out, Tensor* tensor1, Tensor* tensor2, Tensor* tensor3, Tensor* number);
BOUNDED_OPS(DECLARE_BOUNDED)
#undef DECLARE_BOUNDED

// ---- Reductions over several axes (count -1: over all). A result without axes has shape [1].
#define DECLARE_REDUCTION(name, ...) \
    API Tensor* name##_tensor(Tensor* tensor, const int64_t* axes, int32_t count, int32_t keepdim);
REDUCTIONS(DECLARE_REDUCTION)
#undef DECLARE_REDUCTION
API Tensor* mean_tensor(Tensor* tensor, const int64_t* axes, int32_t count, int32_t keepdim);
API Tensor* trace_tensor(Tensor* tensor);  // the sum of a matrix's diagonal
// the sum of squared distances from the mean, divided by the number of elements less `lost`
API Tensor* variance_tensor(Tensor* tensor, const int64_t* axes, int32_t count, int32_t keepdim, double lost);
// its root
API Tensor* deviation_tensor(Tensor* tensor, const int64_t* axes, int32_t count, int32_t keepdim, double lost);
// The pair of the variance, or with `root` the deviation, and the mean
API Results* moments_tensor(Tensor* tensor, const int64_t* axes, int32_t count, int32_t keepdim, double lost,
                            int32_t root);
API Tensor* norm_tensor(Tensor* tensor, const int64_t* axes, int32_t count, int32_t keepdim, double p);  // for p > 0
// Two results: the smallest and the largest elements; or the extreme ones along an axis and their first indices
API Results* aminmax_tensor(Tensor* tensor, const int64_t* axes, int32_t count, int32_t keepdim);
API Results* extreme_tensor(Tensor* tensor, int64_t axis, int32_t keepdim, int32_t largest);
API Tensor* logsumexp_tensor(Tensor* tensor, const int64_t* axes, int32_t count, int32_t keepdim);
API Tensor* argmax_tensor(Tensor* tensor, int64_t axis, int32_t over_all, int32_t keepdim);
API Tensor* argmin_tensor(Tensor* tensor, int64_t axis, int32_t over_all, int32_t keepdim);
API Tensor* sum_to_shape(Tensor* tensor, Tensor* like);  // undoes broadcasting: sums over what was repeated

// ---- Indexing by tensors. Values broadcast, and may be a number. `how` is a Combining (ops/combining.h), and beside:
//      what was there does not count; sums are divided by the number of their values; values of other dtypes are converted
enum : int32_t { WITHOUT_SELF = 8, AVERAGED = 16, CONVERTED = 32 };
// By int64: indices[d] selects along axis d, null takes all of it; with `wraps`, negative integers count from the end;
// messages call the axis axes[d], or d if axes is null.
API Tensor* index_tensor(Tensor* tensor, Tensor* const* indices, const int64_t* axes, int32_t count, int32_t wraps);
API int index_put(Tensor* target, Tensor* const* indices, const int64_t* axes, int32_t count, int32_t wraps,
                  Tensor* values, int32_t how);
// What one index names (norch/methods/places.py has the same numbers). ELEMENTS: for each element of the index one along
// the axis, at its own position along the others. SLICES: for each, all of them at this place of the axis. FLAT: elements
// by their number in row order. MASK: where a mask of the first dimensions is true. Integers are int64 or int32. VECTOR,
// of SLICES: the index is a vector or one number, and the source has the shape of the slices.
enum Naming : int32_t { ELEMENTS, SLICES, FLAT, MASK, KIND = 7, WRAPS = 8, VECTOR = 16 };
API Tensor* gather_tensor(Tensor* tensor, Tensor* index, int64_t axis, int32_t kind);
API int scatter_into(Tensor* target, Tensor* index, int64_t axis, int32_t kind, Tensor* source, int32_t how);
API Tensor* scatter_tensor(Tensor* tensor, Tensor* index, int64_t axis, int32_t kind, Tensor* source, int32_t how);
// The first elements of the source, in row order, to where the mask is true.
API int masked_scatter_into(Tensor* target, Tensor* mask, Tensor* source);
API Tensor* masked_scatter_tensor(Tensor* tensor, Tensor* mask, Tensor* source);
// Fails with an error of this kind if an element is outside of [low, high]; {} in the message becomes the element.
API int expect_range(Tensor* x, double low, double high, int32_t nan_fits, int32_t kind, const char* message);
API Tensor* nonzero_tensor(Tensor* tensor);  // [count, rank]: the index of each nonzero element
// Two results: the first `count` of the sorted elements along an axis (-1: all), and their indices. Stable.
API Results* sort_tensor(Tensor* tensor, int64_t axis, int64_t count, int32_t descending);
// Two results: an element of each line along an axis, and its index. `how` is an OrderStatistic (ops/ordering.h), and
// place counts from 1.
API Results* order_statistic_tensor(Tensor* tensor, int64_t axis, int32_t keepdim, int32_t how, int64_t place);
API Results* mode_tensor(Tensor* tensor, int64_t axis, int32_t keepdim);  // the last of the most frequent elements
// Two results: the largest or smallest of each element and those before it along an axis, and its last index.
API Results* running_extreme_tensor(Tensor* tensor, int64_t axis, int32_t largest);
// How many sorted edges (a vector, or a line for each line of values) lie below each value; right: or are equal to it.
API Tensor* bins_tensor(Tensor* edges, Tensor* values, int32_t right);
API Tensor* cumsum_tensor(Tensor* tensor, int64_t axis, int32_t reverse);  // reverse: from the end on
API Tensor* cumprod_tensor(Tensor* tensor, int64_t axis);
API Tensor* logcumsumexp_tensor(Tensor* tensor, int64_t axis);

// ---- Sets and counts (api/sets.cpp)
API int32_t equal_tensors(Tensor* x, Tensor* y);  // whether shapes and elements are the same; -1 after an error
// Whether each element is among the tests, which have its dtype; or, if inverted, is not.
API Tensor* isin_tensor(Tensor* tensor, Tensor* tests, int32_t inverted);
// Three results: the different elements (in order, or if nothing sorts the first of each run), in the tensor's shape the
// place of each among them, and how often each occurs; the last two if they are asked for.
API Results* unique_tensor(Tensor* tensor, int32_t sorts, int32_t inverse, int32_t counts);
// How often each of 0, 1, ... occurs in a vector of integers, or the sum of its weights; at least `count` of them.
API Tensor* bincount_tensor(Tensor* tensor, Tensor* weights, int64_t count);
// How many elements fall into each of `bins` ranges from low to high
API Tensor* histc_tensor(Tensor* tensor, int64_t bins, double low, double high);

// ---- Statistics (api/statistics.cpp)
API Tensor* diff_tensor(Tensor* tensor, int64_t axis, int64_t times);  // each element less the one before it
// The integral along an axis by the trapezoidal rule, of points dx apart; or, if it runs, up to each but the first
API Tensor* trapezoid_tensor(Tensor* tensor, int64_t axis, double dx, int32_t runs);
// Differences over two steps, at the ends over one
API Tensor* slopes_tensor(Tensor* tensor, int64_t axis, double step);
// Slices along an axis whose p-norm is larger than `most`, scaled down to it
API Tensor* renorm_tensor(Tensor* tensor, int64_t axis, double p, double most);
API int renorm_into(Tensor* out, Tensor* tensor, int64_t axis, double p, double most);
// The p-norms of the differences of rows: [..., m, n] and [..., k, n] give [..., m, k]. Without a second tensor of each
// pair of rows of the first, [m, n]: [m (m - 1) / 2].
API Tensor* distances_tensor(Tensor* tensor1, Tensor* tensor2, double p);

// ---- The rest
API Tensor* matmul_tensor(Tensor* tensor1, Tensor* tensor2);  // batched, broadcasting, 1-D operands: as numpy.matmul
API Tensor* cross_tensor(Tensor* tensor1, Tensor* tensor2, int64_t axis);  // of vectors along an axis of size 3
// a^-1 b for triangles a [..., n, n] and b [..., n, k] of the same leading sizes
API Tensor* substitute_tensor(Tensor* triangle, Tensor* sides, int32_t upper);
// Three results: L and U of matrices [..., m, n] on the CPU in one, the row (int32, from 1) that each was swapped with,
// and the number (from 1) of the first pivot that is 0. Without `swaps` rows stay in place.
API Results* lu_tensor(Tensor* tensor, int32_t swaps);
// Two results, of matrices [..., n, n] and sides [..., n, k] on the CPU of the same leading sizes: what solves the
// equations, and the number (from 1) of the first pivot that is 0: then there is no solution.
API Results* solve_tensor(Tensor* tensor, Tensor* sides);
// Three results: the determinants of matrices on the CPU, their signs and the logarithms of their absolute values
API Results* det_tensor(Tensor* tensor);
// L with x = L L^T of symmetric matrices on the CPU, of which the lower triangle is read, and the order (int32) of the
// first leading part that is not positive-definite, or 0
API Results* cholesky_tensor(Tensor* tensor);
// LAPACK's form of QR on the CPU: R and below it Householder's vectors, and their factors tau [..., k]. Then the first
// columns of the product of such reflections.
API Results* geqrf_tensor(Tensor* tensor);
API Tensor* orgqr_tensor(Tensor* tensor, Tensor* taus, int64_t columns);
// Two results, of matrices [..., m, n], m >= n, and sides [..., m, k] on the CPU, none empty: the x of the least
// |a x - b|, and (bool) whether the ranks are full so clearly that x can be believed, of what is cut off below rtol.
API Results* least_squares_tensor(Tensor* a, Tensor* b, double rtol);
// Two results, of symmetric matrices on the CPU of which one triangle is read: eigenvalues, rising, and vectors, if wanted
API Results* eigh_tensor(Tensor* tensor, int32_t upper, int32_t vectors);
// Three results: U, the singular values, falling, and V^T; without vectors U and V^T are empty
API Results* svd_tensor(Tensor* tensor, int32_t full, int32_t vectors);
// The permutations [..., rows, rows] that such rows stand for.
API Tensor* permutation_of_pivots(Tensor* pivots, int64_t rows, int32_t dtype);
// The rows and columns [2, n], int64, of what is on and below (or above) a diagonal of a matrix.
API Tensor* triangle_places_tensor(int64_t rows, int64_t columns, int64_t diagonal, int32_t upper);
// dot, mv, mm, bmm or outer (PRODUCTS in api/matmul.cpp), which say the ranks that they take; beta * x + alpha * that,
// with null for a beta or alpha of 1
API Tensor* product_tensor(Tensor* tensor1, Tensor* tensor2, int32_t kind);
API Tensor* kron_tensor(Tensor* tensor1, Tensor* tensor2);  // Kronecker's product
API int added_product_into(Tensor* out, Tensor* tensor1, Tensor* tensor2, Tensor* beta, Tensor* alpha, int32_t kind);
API Tensor* added_product_tensor(Tensor* tensor, Tensor* tensor1, Tensor* tensor2, Tensor* beta, Tensor* alpha,
                                 int32_t kind);
API Tensor* cat_tensors(Tensor* const* tensors, int32_t count, int64_t axis);
API Tensor* block_diag_tensors(Tensor* const* tensors, int32_t count, int32_t dtype);  // matrices, vectors as rows
API Tensor* stack_tensors(Tensor* const* tensors, int32_t count, int64_t axis);        // along a new axis
API Tensor* triangle_tensor(Tensor* tensor, int64_t diagonal, int32_t upper);  // zeros below (upper), or above it
API int triangle_into(Tensor* out, Tensor* tensor, int64_t diagonal, int32_t upper);  // of one shape; out may be tensor

// ---- Optimizers: one step of all parameters that have a gradient, in place (api/optim.cpp). `options` has an entry for
//      each group of parameters. Whatever fails, be it a check or an allocation, fails before anything is changed.
struct SGDEntry {
    Tensor *parameter, *gradient, *velocity;  // velocity: null without momentum
    int64_t first;                            // whether this is the velocity's first step
    int64_t group;
};
struct StepEntry {
    Tensor *parameter, *gradient;
    Tensor* state[3];  // in the order of OPTIMIZERS in kernels.h
    Tensor* step;      // how many steps were taken: a float32 on the CPU, which the call increments
    int64_t group;
};
API int sgd_step(int32_t count, const SGDEntry* entries, const SGDOptions* options);
#define DECLARE_STEP(name, Options, ...) \
    API int name##_step(int32_t count, const StepEntry* entries, const Options* options);
OPTIMIZERS(DECLARE_STEP)
#undef DECLARE_STEP

// ---- Memory shared with Python objects, and with other libraries by DLPack (api/external.cpp)
struct ObjectFunctions;  // more of Python's C API (api/objects.h)
API void use_python(const PythonFunctions* functions, const ObjectFunctions* of_objects);  // once, before all others
// The types that handles.py calls Handle and StorageHandle, and the functions of norch/guards.py (api/objects.cpp)
API void know_objects(void* const* found);  // types, constants and errors of Python
// A function of `library` as a builtin one; None where that cannot be. kinds: a letter for the result and each parameter
// (_KINDS in _C.py); owner: the type of a Handle that it returns
API PythonObject* new_builtin(void* library, const char* name, const char* kinds, PythonObject* owner,
                              int32_t gives_lock);
API PythonObject* handle_type(int32_t kind, PythonObject* bases, int64_t header);
API void know_tensors(PythonObject* tensor, PythonObject* view_list, PythonObject* raise_error, int64_t slots);
API void know_parameters(PythonObject* parameter);
// The steps of a walk that C takes for norch/autograd/engine.py, and what it accumulates at the end: the list of
// (node, gradient) that it leaves (api/walk.cpp)
API void know_walk(PythonObject* objects_in_order);  // a tuple
API PythonObject* walk_plain(PythonObject* waiting, PythonObject* arrived, PythonObject* found, PythonObject* fresh,
                             PythonObject* needed, PythonObject* wanted, int32_t creates_graph, int32_t frees);
API PythonObject* accumulate_plain(PythonObject* found, PythonObject* given);
API int32_t needed_bits(PythonObject* edges, PythonObject* asked);  // `needed` of norch/autograd/node.py
// `wrap` and `several` of norch/operation.py, `wrap_view` of norch/autograd/in_place.py
API PythonObject* wrap_handle(PythonObject* handle);
API PythonObject* wrap_handles(PythonObject* handles);
API PythonObject* wrap_view(PythonObject* handle, PythonObject* base, PythonObject* tracked);
API PythonObject* wrap_views(PythonObject* handles, PythonObject* base, PythonObject* tracked);  // of a tuple
// A new tensor of numbers and nested lists; null, without an error, for what is left to norch/packing.py. The dtype may
// be -1 to infer it. (api/python_values.cpp)
API Tensor* tensor_of_values(PythonObject* data, int32_t dtype);
API PythonObject* values_of(Tensor* tensor, int32_t alone);  // nested lists, or the only number; None for others
API PythonObject* shape_of(Tensor* tensor);                  // a tuple
API PythonObject* strides_of(Tensor* tensor);
API PythonObject* form_of_tensor(Tensor* tensor);       // a tuple: dtype, device, shape, strides
API PythonObject* parts_of_index(PythonObject* index);  // as part_tensor takes them; None for others
API PythonObject* enter_guard(PythonObject* guard);
API int leave_guard(PythonObject* guard, PythonObject* type, PythonObject* exception, PythonObject* traceback);
API void drop_guard(PythonObject* guard);
API PythonObject* call_within(PythonObject* changes, PythonObject* function, PythonObject* arguments,
                              PythonObject* named);
// function(*arguments), between before() and after()
API PythonObject* call_between(PythonObject* before, PythonObject* after, PythonObject* function,
                               PythonObject* arguments);
API Storage* hold_storage(Tensor* tensor);  // one more reference to its storage, given back by free_storage
API void free_storage(Storage* storage);
API Tensor* storage_tensor(Storage* storage, int32_t dtype);  // all its elements, as a vector
API int32_t is_read_only(Tensor* tensor);
// Over the memory of a Python object, which it keeps alive
API Tensor* external_tensor(void* data, const int64_t* shape, const int64_t* strides, int32_t ndim, int32_t dtype,
                            int32_t read_only, void* owner);
API Tensor* buffer_tensor(PythonObject* object);  // over its buffer; null, and no error, if that is no tensor's
API void* dlpack_tensor(Tensor* tensor, int32_t versioned, int32_t copied);  // for a capsule named dlpack_name(...)
API Tensor* tensor_of_dlpack(void* managed, int32_t versioned);              // owns `managed` from then on
API const void* dlpack_name(int32_t versioned, int32_t used);
API void* dlpack_destructor();  // of such capsules: a PyCapsule_Destructor

// ---- Threads
API int32_t get_num_threads();
API void set_num_threads(int32_t count);

// ---- What autograd asks
API Tensor* unit_gradient(Tensor* tensor);  // 1 in the shape, dtype and device of a tensor that has one element
// What a tensor's .grad can be: -1, not this (another shape, dtype or device); 0, a copy of this; 1, this itself,
// whose memory no other tensor sees.
API int32_t fits_as_gradient(Tensor* gradient, Tensor* tensor);
API int32_t shares_memory(Tensor* x, Tensor* y);          // 1 if they are over one storage
API int32_t same_kind(Tensor* tensor1, Tensor* tensor2);  // 1 if shape, dtype and device are equal
API int64_t written_at(Tensor* tensor);                   // the write clock when it was last written in place
API void mark_as_written(Tensor* tensor);                 // as if it had been written in place
API int64_t version_of(Tensor* tensor);                   // how often that happened

// ---- What norch.distributed asks
// Notes a collective, starts it and polls it so often: 0 if it is done, 1 if it is under way, 2 if another rank notes
// another one under that number, -error of MPI. `collective` is packed by distributed/direct.py.
API int32_t run_collective(const void* collective, int64_t number, int32_t polls, void* request, Tensor* written);

// ---- The boundary: C++ exceptions stop here (but not the unwinding by which Python ends a thread at its exit)
void remember_error(const Error& error) noexcept;
void remember_error(const std::exception& error) noexcept;

template <class F>
int attempt(F f) {
    try {
        f();
        return 0;
    } catch (const Error& error) {
        remember_error(error);
    } catch (const std::exception& error) {
        remember_error(error);
    }
    return -1;
}

template <class F>
Tensor* build(F f) {
    Tensor* result = nullptr;
    attempt([&] { result = f().give(); });
    return result;
}

Results* give_results(Tensor** tensors, int count);  // takes them over; count 0 after an error

// f(results) fills the array.
template <int COUNT, class F>
Results* build_several(F f) {
    Tensor* results[COUNT] = {};
    return give_results(results, attempt([&] { f(results); }) == 0 ? COUNT : 0);
}
