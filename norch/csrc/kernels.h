// The kernels that every device provides. A row KERNEL(softmax, (const Tensor& x, Tensor& out)) becomes
//
//     void softmax_tensor_cpu(const Tensor& x, Tensor& out);   // cpu/backend.h declares it, cpu/ and host/ define it
//     void softmax_tensor_cuda(const Tensor& x, Tensor& out);  // cuda/backend.h; cuda.cu or cuda/stub.cpp
//     Kernel<void(const Tensor& x, Tensor& out)> softmax;      // dispatch.h, with a slot for each of them
//
// What kernels may rely on, and the functions in api/ see to:
//   elementwise  every operand was expanded to out's shape (stride 0 where it repeats) and has the dtype of the
//                computation; out has the dtype that the row's rule names, and may be one of the operands
//   reductions   out has x's rank, with size 1 along each reduced axis, and is contiguous
//   matmul       a [..., m, k], b [..., k, n] and a contiguous out [..., m, n] have the same leading sizes (strides may
//                be 0)
//   index        x (of index_put: out) and places (int64) were expanded to the selection's shape: element p is
//                data[p . strides + offset], where places[p] and a Placing tell the offset; strides are 0 along what is
//                indexed
//   images       of unfold, convolution and pooling: contiguous, of a floating dtype (unfold: any, fold and max_pool:
//                any but bool), [N, C, y, x] with the sizes of the window (ops/windows.h), and not empty; of a window
//                with channels all of a pool lie as [N, z, y, x, C]
//   lines        sort, running_extreme, cumsum, cumprod and logcumsumexp take any strides, also negative ones; no operand
//                is empty

#pragma once
#include "ops/attention.h"
#include "ops/bags.h"
#include "ops/combining.h"
#include "ops/operations.h"
#include "ops/linspace.h"
#include "ops/ordering.h"
#include "ops/philox.h"
#include "tensor.h"
#include "ops/windows.h"

// What can be wrong with values rather than with shapes. A CPU kernel fails at once. A CUDA kernel notes the fault, and
// the host fails with it when it next waits for the device: no operation waits for its own checks.
struct Fault {
    // PLACE: an index of gather or scatter; OFFSET: where a bag begins
    enum : int32_t { NONE, INDEX, PLACE, TARGET, DIVISION, RANGE, OFFSET };
    int32_t kind;
    int32_t axis;           // INDEX, PLACE: the axis; RANGE: the kind of error; OFFSET: 0 of the first bag
    const char* operation;  // for the message; RANGE: all of it, with {} for the value
    int64_t size;           // INDEX, PLACE: of the axis; TARGET: the number of classes; OFFSET: of the input; NONE: of
                            // what offsets reach, or 0 if that is unknown
    int64_t ignored;        // TARGET: ignore_index
    int64_t value;          // what was found; RANGE: the bits of a double
};

// How index and index_put read integers as places: an integer i is the element i * stride elements further on.
struct Placing {
    Fault bounds;  // kind NONE: the integers are offsets, which were checked
    int64_t stride;
    bool wraps;  // negative integers count from the end
    bool apart;  // index_put: no two elements of out share memory, so that threads may share the work
    bool fresh;  // index_put: nobody sees out if a place is out of bounds
};

// A range that values have to be in, both ends included.
struct Range {
    double low, high;
    int32_t nan_fits;
};
[[noreturn]] void fail_with(const Fault& fault, int64_t value);

// The settings of the optimizers, as norch/optim packs them; ops/optimizer_formulas.h tells what they mean.
struct SGDOptions {
    double lr, momentum, dampening, weight_decay;
    int32_t nesterov, maximize;
};
struct AdamOptions {
    double lr, beta1, beta2, eps, weight_decay;
    int32_t amsgrad, decoupled, maximize;
};
struct RMSpropOptions {
    double lr, alpha, eps, weight_decay, momentum;
    int32_t centered, maximize;
};
struct AdadeltaOptions {
    double lr, rho, eps, weight_decay;
    int32_t maximize;
};
struct AdafactorOptions {
    double lr, weight_decay;
};
struct AdagradOptions {
    double lr, lr_decay, eps, weight_decay;
    int32_t maximize;
};
struct AdamaxOptions {
    double lr, beta1, beta2, eps, weight_decay;
    int32_t maximize;
};
struct ASGDOptions {
    double lr, lambd, alpha, t0, weight_decay;
    int32_t maximize;
};
struct NAdamOptions {
    double lr, beta1, beta2, eps, weight_decay, momentum_decay;
    int32_t decoupled, maximize;
};
struct RAdamOptions {
    double lr, beta1, beta2, eps, weight_decay;
    int32_t decoupled, maximize;
};
struct RpropOptions {
    double smaller, larger, smallest, largest;
    int32_t maximize;
};

// What normalization sees in a tensor: [outer, groups, inner], with a mean and a variance for each group. Weight and
// bias have an element for each group, or for each position of the inner axis (then outer is 1, and a bias needs a
// weight), or for each channel: then outer is 1, inner is channels of `span` elements, and `cycle` groups make a sample.
struct Normalizing {
    enum Affine : int32_t { BY_PLACE, BY_GROUP, BY_CHANNEL };
    int64_t outer, groups, inner;
    double eps;
    Affine affine;
    int64_t cycle, span;
    bool fixed = false;  // backward: mean and variance were given, BY_GROUP, and do not depend on x

    HOST_DEVICE int64_t first_channel(int64_t group) const { return group % cycle * (inner / span); }
    // The element of weight and bias for element i of a group
    HOST_DEVICE int64_t affine_of(int64_t group, int64_t i) const {
        return affine == BY_PLACE ? i : affine == BY_GROUP ? group : first_channel(group) + i / span;
    }
};

// How the points of a grid read images (ops/grid.h).
struct Sampling {
    enum Mode : int32_t { BILINEAR, NEAREST, BICUBIC };
    enum Border : int32_t { ZEROS, BORDER, REFLECTION };
    Mode mode;
    Border border;
    int32_t align, axes;  // whether -1 and 1 are the centres of the outermost elements; 2 or 3
    int64_t size[3];      // of an image
    int64_t points;       // of the grid of each image
};

// How a tensor gets a border (ops/padding.h).
struct Padding {
    enum Mode : int32_t { CONSTANT, REFLECT, REPLICATE, CIRCULAR };
    Mode mode;
    int64_t before[MAX_DIMS];  // how many elements come before each axis; fewer than 0 are taken away
    uint64_t value;            // CONSTANT: the bits of the border's element, from the lowest on
};

// What is computed of two rows (ops/row_pairs.h).
struct RowPairs {
    enum Kind : int32_t {
        COSINE,     // x y / (max(|x|, eps) max(|y|, eps)); a length below eps gets the slope of its own
        EMBEDDING,  // x y / sqrt((x x + eps) (y y + eps))
        DISTANCE    // |x - y + eps|
    };
    Kind kind;
    double eps;
};

// The loss of scores [N, C] by a margin; a row of labels [N, S] lists the classes that should win. With `until` the list
// ends at the first negative label.
struct Margins {
    double margin;
    int32_t power;  // 1 or 2
    int32_t until;
};

#define UNARY_KERNEL(name, rule, formula) KERNEL(name, (const Tensor& x, Tensor& out))
#define BINARY_KERNEL(name, rule, formula) KERNEL(name, (const Tensor& x, const Tensor& y, Tensor& out))
#define TERNARY_KERNEL(name, rule, formula) \
    KERNEL(name, (const Tensor& c, const Tensor& x, const Tensor& y, Tensor& out))

#define BOUNDED_KERNEL(name, rule, formula) \
    KERNEL(name, (const Tensor& c, const Tensor& x, const Tensor& y, const Tensor& z, Tensor& out))

// name, class of ops/reductions.h, dtype of the result, whether a reduction of no elements has a value
#define REDUCTIONS(K)                                                                    \
    K(sum, Sum, WIDE_DTYPE, true) /* of floats: a few ULP of error at any length */      \
    K(nansum, NanSum, WIDE_DTYPE, true)                                                  \
    K(prod, Prod, WIDE_DTYPE, true)                                                      \
    K(max, Max, SAME_DTYPE, false) /* a NaN wins */                                      \
    K(min, Min, SAME_DTYPE, false)                                                       \
    K(any, Any, BOOL_DTYPE, true)                                                        \
    K(all, All, BOOL_DTYPE, true)
enum ResultDType { SAME_DTYPE, WIDE_DTYPE /* int64 for integers and bool */, BOOL_DTYPE };
#define REDUCTION_KERNEL(name, Op, result, has_empty) KERNEL(name, (const Tensor& x, Tensor& out))

// Operations along the middle axis of [outer, n, inner], each with its gradient; y is the result of the operation. All
// operands are contiguous and float32 or float64.
#define ROW_OPS(K) \
    K(softmax)     \
    K(log_softmax)
#define ROW_KERNEL(name)                        \
    KERNEL(name, (const Tensor& x, Tensor& out)) \
    KERNEL(name##_backward, (const Tensor& gradient, const Tensor& y, Tensor& out))

// Losses that are summed: out[0] = scale * the sum of what the pairs add; backward: out = gradient[0] * scale * the
// slopes along x. x and y are contiguous, of one shape, float32 or float64.
#define LOSS_KERNEL(name, loss, slope)                                                                  \
    KERNEL(name, (const Tensor& x, const Tensor& y, Tensor& out, double parameter, double scale))       \
    KERNEL(name##_backward, (const Tensor& gradient, const Tensor& x, const Tensor& y, Tensor& out, double parameter, \
                             double scale))

// Optimizers that count their steps: name, options, and what they keep of each parameter, in the order of `state`; what
// the options do without is null. A kernel takes one step in place, for tensors of one shape, dtype and device; only the
// first `like` of `state` are such tensors. The rest and `steps`, how many were taken before, are a float32 on the CPU
// each, which the host reads and writes.
#define OPTIMIZERS(K) /* name, options, like, state */                           \
    K(adam, AdamOptions, 3, "exp_avg", "exp_avg_sq", "max_exp_avg_sq")           \
    K(rmsprop, RMSpropOptions, 3, "square_avg", "grad_avg", "momentum_buffer")   \
    K(adadelta, AdadeltaOptions, 3, "square_avg", "acc_delta", "")               \
    K(adafactor, AdafactorOptions, 3, "", "", "") /* the gradient is its direction */ \
    K(adagrad, AdagradOptions, 3, "sum", "", "")                                 \
    K(adamax, AdamaxOptions, 3, "exp_avg", "exp_inf", "")                        \
    K(asgd, ASGDOptions, 1, "ax", "eta", "mu")                                   \
    K(nadam, NAdamOptions, 2, "exp_avg", "exp_avg_sq", "mu_product")             \
    K(radam, RAdamOptions, 3, "exp_avg", "exp_avg_sq", "")                       \
    K(rprop, RpropOptions, 3, "prev", "step_size", "")
#define OPTIMIZER_KERNEL(name, Options, like, state0, state1, state2) \
    KERNEL(name, (Tensor& parameter, const Tensor& gradient, Tensor* const* state, const Tensor& steps, \
                  const Options& options))

// The lists expand KERNEL, which the including file defines just before. On a CPU those of VECTOR_KERNELS are compiled
// for each instruction set (host/instruction_sets.h), those of PLAIN_KERNELS once.
//
// Kernels need no narrow dtypes (tensor.h): the dispatch widens them. On a CPU the elementwise ones do so themselves,
// block by block, those of ROW_KERNELS some rows after the other, and reductions take them as they are. Those of
// MOVING_KERNELS take any dtype on every device.
#define ELEMENTWISE_KERNELS                                                                         \
    UNARY_OPS(UNARY_KERNEL)                                                                         \
    ACTIVATION_OPS(UNARY_KERNEL)                                                                    \
    SPECIAL_OPS(UNARY_KERNEL)                                                                    \
    BINARY_OPS(BINARY_KERNEL)                                                                       \
    DERIVATIVE_OPS(BINARY_KERNEL)                                                                   \
    LOSS_OPS(BINARY_KERNEL)                                                                         \
    SHAPED_OPS(BINARY_KERNEL)                                                                       \
    SPECIAL_PAIR_OPS(BINARY_KERNEL)                                                                       \
    TERNARY_OPS(TERNARY_KERNEL)                                                                     \
    SHAPED_DERIVATIVE_OPS(TERNARY_KERNEL)                                                                     \
    BOUNDED_OPS(BOUNDED_KERNEL)                                                                     \
    OPTIMIZERS(OPTIMIZER_KERNEL)                                                                    \
    /* velocity: null without momentum; first: it is not filled yet */                              \
    KERNEL(sgd, (Tensor& parameter, const Tensor& gradient, Tensor* velocity, bool first, const SGDOptions& options))

#define REDUCTION_KERNELS                                                                           \
    REDUCTIONS(REDUCTION_KERNEL)                                                                    \
    /* the sums of the squares, as a reduction */                                                   \
    KERNEL(sum_squares, (const Tensor& x, Tensor& out))

#define ROW_KERNELS                                                                                 \
    ROW_OPS(ROW_KERNEL)                                                                             \
    /* out = (x - mean) / sqrt(variance + eps) * weight + bias; weight and bias may be null. All contiguous, of one \
       floating dtype, and not empty */                                                             \
    KERNEL(normalize, (const Tensor& x, const Tensor* weight, const Tensor* bias, Tensor& out, Tensor& mean, \
                       Tensor& variance, const Normalizing& sizes))

#define OTHER_VECTOR_KERNELS                                                                        \
    /* out = for each element of x the sum of its places' gradients, float32 or float64 */          \
    KERNEL(pad_backward, (const Tensor& gradient, Tensor& out, const Padding& padding))             \
    /* out is int64: the index along axis of the first largest (smallest) element; the first NaN wins */ \
    KERNEL(argmax, (const Tensor& x, Tensor& out, int axis))                                        \
    KERNEL(argmin, (const Tensor& x, Tensor& out, int axis))                                        \
    /* of each line of n elements, x [..., n], the value and the index (int64) that is chosen; of equals the first */ \
    KERNEL(order_statistic, (const Tensor& x, Tensor& values, Tensor& indices, OrderStatistic how, int64_t place)) \
    /* the p-norm distances of the rows of x [b, m, n] to those of y [b, k, n]: out [b, m, k]; or, of `pairs`, where y \
       is x [1, m, n], of each pair of rows once, the upper triangle row by row. All contiguous, floating */ \
    KERNEL(distances, (const Tensor& x, const Tensor& y, Tensor& out, double p, bool pairs))        \
    KERNEL(matmul, (const Tensor& a, const Tensor& b, Tensor& out))                                 \
    /* out = x @ weight.T + bias, for x [rows, in], weight [out, in] and bias [out] or null */      \
    KERNEL(linear, (const Tensor& x, const Tensor& weight, const Tensor* bias, Tensor& out))        \
    /* the rows of x [..., m, columns] from number `row` on = triangle^-1 times them, for triangles [..., n, n] of the \
       same leading sizes, float32 or float64; both contiguous (on the CPU x may be columns of a matrix), not empty */ \
    KERNEL(substitute, (const Tensor& triangles, Tensor& x, int64_t row, bool upper))               \
    /* fill a contiguous out that is not empty with the random numbers of ops/philox.h */               \
    KERNEL(uniform, (Tensor& out, Stream stream, double low, double high)) /* [low, high) */        \
    KERNEL(normal, (Tensor& out, Stream stream, double mean, double std))                           \
    KERNEL(integers, (Tensor& out, Stream stream, int64_t low, uint64_t range)) /* range 0: 2^64 */ \
    KERNEL(places, (Tensor& out, Stream stream)) /* int64: element i is one of 0 to i */              \
    /* contiguous, float64, of one shape: counts of Poisson's distribution with these means, or, of `chances`, of the \
       binomial one with so many trials (ops/counts.h) */                                           \
    KERNEL(counts, (const Tensor& means, const Tensor* chances, Tensor& out, Stream stream))        \
    /* likewise the evenly spaced numbers of ops/linspace.h */                                        \
    KERNEL(evenly_spaced, (Tensor& out, const Spacing& spacing))                                    \
    /* logits are [outer, n, inner]; labels are int64, one for each column, and were given to label_scale, which gave \
       scale */                                                                                     \
    KERNEL(cross_entropy, (const Tensor& logits, const Tensor& labels, const Tensor& scale, Tensor& losses,         \
                           int64_t ignored, double smoothing))                                      \
    KERNEL(cross_entropy_backward, (const Tensor& gradient, const Tensor& logits, const Tensor& labels,             \
                                    const Tensor& scale, Tensor& out, int64_t ignored, double smoothing)) \
    /* losses [N]; weight is [C] or null. Backward: gradient has an element, or one for each row; all times scale */ \
    KERNEL(class_margin, (const Tensor& scores, const Tensor& labels, const Tensor* weight, Tensor& losses, \
                          const Margins& how))                                                      \
    KERNEL(class_margin_backward, (const Tensor& gradient, const Tensor& scores, const Tensor& labels, \
                                   const Tensor* weight, Tensor& out, const Margins& how, double scale)) \
    /* out [rows] of x and y [rows, n]; then their gradients, each may be null */                   \
    KERNEL(row_pairs, (const Tensor& x, const Tensor& y, Tensor& out, const RowPairs& how))         \
    KERNEL(row_pairs_backward, (const Tensor& gradient, const Tensor& x, const Tensor& y, Tensor* for_x, Tensor* for_y, \
                                const RowPairs& how))                                               \
    /* A step of an LSTM: x [N, 4 H] is the input's part of the gates. `gates` comes as that of h, and becomes the gates \
       i, f, g, o. Backward: to_c, the gradient of c_new, becomes that of c, and d [N, 4 H] that of x. to_out, the \
       gradient of this step's output, may be null, and h, which becomes that output */             \
    KERNEL(lstm_step, (const Tensor& x, const Tensor& c, Tensor& gates, Tensor& c_new, Tensor& h))  \
    KERNEL(lstm_step_backward, (const Tensor& to_h, const Tensor* to_out, const Tensor& gates, const Tensor& c, \
                                const Tensor& c_new, Tensor& to_c, Tensor& d, Tensor* h))           \
    /* out [N, C, points] of images x [N, C, ...] at a grid [N, points, axes] (ops/grid.h); then the gradients that are \
       not null */                                                                                  \
    KERNEL(grid_sample, (const Tensor& x, const Tensor& grid, Tensor& out, const Sampling& how))    \
    KERNEL(grid_sample_backward, (const Tensor& gradient, const Tensor& x, const Tensor& grid, Tensor* for_x, \
                                  Tensor* for_grid, const Sampling& how))                           \
    /* out = for output o of an axis the sum over t < counts[o] of weights[t, o] times x at places[t, o] of the axis; \
       counts [outputs] and places [taps, outputs] are int32. All contiguous, x and out of a floating dtype, out not empty */ \
    KERNEL(resample, (const Tensor& x, const Tensor& counts, const Tensor& places, const Tensor& weights, Tensor& out, \
                      int axis))                                                                    \
    /* log_probs [T, N, C], labels [N, S], lengths [2, N] of sequences and of labels; alpha [N, T, 2 S + 3] and the \
       losses [N]. An infinite loss has the gradient 0 */                                           \
    KERNEL(ctc, (const Tensor& log_probs, const Tensor& labels, const Tensor& lengths, Tensor& alpha, Tensor& losses, \
                 int64_t blank))                                                                    \
    KERNEL(ctc_backward, (const Tensor& gradient, const Tensor& log_probs, const Tensor& labels, const Tensor& lengths, \
                          const Tensor& alpha, const Tensor& losses, Tensor& out, int64_t blank))   \
    LOSSES(LOSS_KERNEL)                                                                             \
    /* The gradients of bags that are not a MAX: to the rows, if for_table is not null, it is zeros, and of the weights \
       [integers] of a sum, which need the table and are zeros where no bag is */                   \
    KERNEL(embedding_bag_backward, (const Tensor& gradient, const Tensor* table, const Tensor& index, const Tensor* starts, \
                           const Tensor* weights, Tensor* for_table, Tensor* for_weights, const Bagging& how)) \
    /* columns [N, C * taps, outputs] of images, and the images that columns add up to */           \
    KERNEL(unfold, (const Tensor& x, Tensor& out, const Window& window))                            \
    KERNEL(fold, (const Tensor& columns, Tensor& out, const Window& window))                        \
    /* weight is [outputs, channels of a group, y.kernel, x.kernel], bias [outputs] or null; then the gradients of x and \
       weight */                                                                                    \
    KERNEL(conv, (const Tensor& x, const Tensor& weight, const Tensor* bias, Tensor& out, const Window& window)) \
    KERNEL(conv_input, (const Tensor& gradient, const Tensor& weight, Tensor& out, const Window& window)) \
    KERNEL(conv_weight, (const Tensor& gradient, const Tensor& x, Tensor& out, const Window& window)) \
    /* the gradients of x, weight and bias that are not null; as normalize */                       \
    KERNEL(normalize_backward, (const Tensor& gradient, const Tensor& x, const Tensor* weight, const Tensor& mean, \
                                const Tensor& variance, Tensor* for_x, Tensor* for_weight, Tensor* for_bias, \
                                const Normalizing& sizes))                                          \
    /* out [..., L, V] and log_sum [..., L] of operands with the same leading sizes, of any strides: query [..., L, E], \
       key [..., S, E], value [..., S, V], and a mask [..., L, S] of bool or of numbers to add, or null. Then the \
       gradients that are not null. Only the operands' strides are free; no operand is empty */         \
    KERNEL(attention, (const Tensor& query, const Tensor& key, const Tensor& value, const Tensor* mask, Tensor& out, \
                       Tensor& log_sum, const Attending& how))                                       \
    KERNEL(attention_backward, (const Tensor& gradient, const Tensor& query, const Tensor& key, const Tensor& value, \
                                const Tensor* mask, const Tensor& out, const Tensor& log_sum, Tensor* for_query, \
                                Tensor* for_key, Tensor* for_value, const Attending& how))           \
    /* the largest element that each window sees, and its place in the image (int64; null for a window that is not \
       adaptive: nobody asks); a NaN is the largest */                                              \
    KERNEL(max_pool, (const Tensor& x, Tensor& out, Tensor* indices, const Window& window))         \
    KERNEL(max_pool_backward, (const Tensor& gradient, const Tensor& indices, Tensor& out, const Window& window)) \
    KERNEL(avg_pool, (const Tensor& x, Tensor& out, const Averaging& averaging))                    \
    KERNEL(avg_pool_backward, (const Tensor& gradient, Tensor& out, const Averaging& averaging))

/* out = x, between any two dtypes and layouts of one shape */
#define ASSIGN_KERNEL KERNEL(assign, (const Tensor& x, Tensor& out))

#define MOVING_KERNELS \
    /* out = the elements of x at places */                                                         \
    KERNEL(index, (const Tensor& x, const Tensor& places, const Placing& placing, Tensor& out))     \
    /* the elements of out at places = x, or (of wide dtypes) += x, *= x ...; places may repeat; x has out's shape and \
       dtype. Nothing is written if a place is out of bounds, unless out is fresh */                                     \
    KERNEL(index_put, (const Tensor& x, const Tensor& places, const Placing& placing, Combining how, Tensor& out)) \
    /* out = x above (upper) or below a diagonal and on it, zeros elsewhere; of one shape [..., m, n], maybe the same */ \
    KERNEL(triangle, (const Tensor& x, int64_t diagonal, bool upper, Tensor& out))                  \
    /* out = x with a border (ops/padding.h), both contiguous, out not empty */                     \
    KERNEL(pad, (const Tensor& x, Tensor& out, const Padding& padding))                             \
    /* out [bags, size] = the rows of a floating table [rows, size] that the integers of each bag name, times a weight \
       for each integer, or null, in one (ops/bags.h); of MAX the row of each element, -1 of an empty bag, if it is \
       asked for. index and starts are int64; all contiguous, out not empty */                      \
    KERNEL(embedding_bag, (const Tensor& table, const Tensor& index, const Tensor* starts, const Tensor* weights, Tensor& out, \
                  Tensor* chosen, const Bagging& how))

#define VECTOR_KERNELS \
    ELEMENTWISE_KERNELS ASSIGN_KERNEL MOVING_KERNELS REDUCTION_KERNELS ROW_KERNELS OTHER_VECTOR_KERNELS

#define PLAIN_KERNELS \
    /* fails if truth, a single bool, is false */                                                   \
    KERNEL(expect, (const Tensor& truth, const Fault& fault))                                       \
    /* fails if an element of x, contiguous and float32, float64 or int64, is outside of the range */ \
    KERNEL(expect_range, (const Tensor& x, const Range& range, const Fault& fault))                 \
    /* offsets = index * stride, or += unless first; fails if an index is out of bounds; if it wraps, negative ones \
       count from the end. All int64, of one shape */                                                     \
    KERNEL(locate, (const Tensor& index, const Fault& bounds, bool wraps, int64_t stride, bool first,   \
                    Tensor& offsets))                                                               \
    /* scale, a float64, = 1 / the number of labels that are not ignored, or 1 unless mean; fails out of bounds */ \
    KERNEL(label_scale, (const Tensor& labels, const Fault& bounds, bool mean, Tensor& scale))      \
    /* log_p is [outer, C, inner]: of each column -log_p at its label times the class's weight, the class, 0 if it is \
       ignored, and its weight, 0 then. The labels were given to label_scale; weight is [C] or null */                                   \
    KERNEL(nll, (const Tensor& log_p, const Tensor& labels, const Tensor* weight, Tensor& losses, Tensor& classes, \
                 Tensor& shares, int64_t ignored))                                                  \
    /* out is int64 [count, rank], contiguous: the index of each of the count nonzero elements of x, in row order; or \
       [count]: the offset of the same element in `like`, of x's shape, if that is not null */          \
    KERNEL(nonzero, (const Tensor& x, const Tensor* like, Tensor& out))                                                 \
    /* values and indices (int64) get the first elements of the sorted x along axis, as many as they hold. Stable; NaN \
       is larger than every number */                                              \
    KERNEL(sort, (const Tensor& x, Tensor& values, Tensor& indices, int axis, bool descending))     \
    /* of each line, x [..., n], the most frequent element, the smallest of several, and the index of its last; all \
       contiguous */                                                                                \
    KERNEL(mode, (const Tensor& x, Tensor& values, Tensor& indices))                                \
    /* the largest (smallest) of each element and all before it along axis, and its last place (int64); NaN wins */ \
    KERNEL(running_extreme, (const Tensor& x, Tensor& values, Tensor& indices, int axis, bool largest)) \
    /* out (int64) = for each value how many of the sorted edges lie below it; `right`: or are equal to it. All contiguous; edges a vector, \
       or a line of them for each line of the values */                                            \
    KERNEL(bins, (const Tensor& edges, const Tensor& values, bool right, Tensor& out))              \
    /* running totals along axis; integers and bool into int64; floats are added and multiplied in double */ \
    KERNEL(cumsum, (const Tensor& x, Tensor& out, int axis))                                        \
    KERNEL(cumprod, (const Tensor& x, Tensor& out, int axis))                                       \
    KERNEL(logcumsumexp, (const Tensor& x, Tensor& out, int axis)) /* floating */

#define KERNELS VECTOR_KERNELS PLAIN_KERNELS
