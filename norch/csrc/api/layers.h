// The part of the C API (api.h) for layers and losses: products, windows, normalization, attention.

#pragma once
#include "api/exported.h"
#include "kernels.h"

struct Results;

// ---- Layers and losses, each in one call (api/layers.cpp). Reductions: 0 none, 1 mean, 2 sum, and
//      3, of LOSSES: the sum divided by the first size.
// Along an axis: softmax_tensor and softmax_backward, log_softmax_tensor and log_softmax_backward
#define DECLARE_ROW_OP(name)                               \
    API Tensor* name##_tensor(Tensor* tensor, int64_t axis); \
    API Tensor* name##_backward(Tensor* gradient, Tensor* output, int64_t axis);
ROW_OPS(DECLARE_ROW_OP)
#undef DECLARE_ROW_OP
API Tensor* linear_tensor(Tensor* x, Tensor* weight, Tensor* bias);  // x @ weight.T + bias; bias may be null
// Three results: the gradients of x (needed & 1), weight (& 2) and bias (& 4).
API Results* linear_backward(Tensor* gradient, Tensor* x, Tensor* weight, int32_t needed);
// Logits [N, C, ...] or [C], targets [N, ...] of an integer dtype; mean divides by the targets that are not ignored.
API Tensor* cross_entropy_tensor(Tensor* logits, Tensor* targets, int64_t ignore_index, int32_t reduction,
                                 double smoothing);
API Tensor* cross_entropy_backward(Tensor* gradient, Tensor* logits, Tensor* targets, int64_t ignore_index,
                                   int32_t reduction, double smoothing);
// the loss; then the class of each sample, [N, 1], 0 if it does not count, its weight, [N, 1], and the sum of the weights
API Results* nll_tensor(Tensor* scores, Tensor* targets, Tensor* weight, int64_t ignore_index, int32_t reduction);
// of what nll_tensor gave; total is null unless reduction is mean, the shape that of the scores
API Tensor* nll_backward(Tensor* gradient, Tensor* index, Tensor* shares, Tensor* total, const int64_t* shape,
                         int32_t ndim);
// Losses of predictions and targets of one shape, summed up to no dimensions; the gradient is that of the predictions.
#define DECLARE_LOSS(name, loss, slope)                                                          \
    API Tensor* name##_tensor(Tensor* x, Tensor* y, double parameter, int32_t reduction);        \
    API Tensor* name##_backward(Tensor* gradient, Tensor* x, Tensor* y, double parameter, int32_t reduction);
LOSSES(DECLARE_LOSS)
#undef DECLARE_LOSS
// x * sigmoid(y) for the halves x and y along an axis, and the gradient of both.
API Tensor* glu_tensor(Tensor* x, int64_t axis);
API Tensor* glu_backward(Tensor* gradient, Tensor* x, int64_t axis);
// Losses by a margin (api/rows.cpp) of scores [N, C] or [C]; power 1 or 2 with a class for each row, which a weight [C]
// or null scales; power 0: the target lists classes up to the first negative one.
API Tensor* class_margin_tensor(Tensor* scores, Tensor* targets, Tensor* weight, double margin, int32_t power,
                                int32_t reduction);
API Tensor* class_margin_backward(Tensor* gradient, Tensor* scores, Tensor* targets, Tensor* weight, double margin,
                                  int32_t power, int32_t reduction);
// Cosines and distances of x and y along an axis (ops/row_pairs.h); the gradients of x (needed & 1) and y (& 2).
API Tensor* row_pairs_tensor(Tensor* x, Tensor* y, int32_t kind, double eps, int64_t axis);
API Results* row_pairs_backward(Tensor* gradient, Tensor* x, Tensor* y, int32_t kind, double eps, int64_t axis,
                                int32_t needed);
// Bags (api/bags.cpp): rows of a table [rows, size] that an input of integers names, [bags, n], or [n] with the offsets of
// the bags, of which the last ends the input if `ended`: [bags, size] by a mode of Bagging (ops/bags.h). The input counts
// but for `padding`; the weights have its shape, or are null. If with_rows, a MAX also says the row of each element.
API Results* embedding_bag_tensor(Tensor* table, Tensor* input, Tensor* offsets, Tensor* weights, int32_t mode,
                                  int64_t padding, int32_t ended, int32_t with_rows);
// Of a sum or mean, the gradients of the table (needed & 1), and of the weights (& 2); the table may be null without.
API Results* embedding_bag_backward(Tensor* gradient, Tensor* table, Tensor* input, Tensor* offsets, Tensor* weights,
                                    int64_t rows, int32_t mode, int64_t padding, int32_t ended, int32_t by_frequency,
                                    int32_t needed);
// Connectionist temporal classification of log_probs [T, N, C], labels [N, S] and lengths [2, N] of the sequences and of
// the labels: the losses [N], and what the backward wants besides.
API Results* ctc_tensor(Tensor* log_probs, Tensor* labels, Tensor* lengths, int64_t blank);
API Tensor* ctc_backward(Tensor* gradient, Tensor* log_probs, Tensor* labels, Tensor* lengths, Tensor* alpha,
                         Tensor* losses, int64_t blank);

// All steps of an LSTM (api/recurrent.cpp): x [T, N, 4 H] is the input's part of the gates, h and c are [N, H], the
// weight is [4 H, H], the bias [4 H] or null. The outputs [T, N, H], the last h and c; if `keep`, gates and c of each step.
API Results* lstm_tensor(Tensor* x, Tensor* h, Tensor* c, Tensor* weight, Tensor* bias, int32_t reverse, int32_t keep);
// The gradients of x, h, c, weight (needed & 8) and bias (& 16); those of the results may be null.
API Results* lstm_backward(Tensor* to_outputs, Tensor* to_h, Tensor* to_c, Tensor* gates, Tensor* cells, Tensor* h,
                           Tensor* c, Tensor* weight, int32_t reverse, int32_t needed);

// Images [N, C, ...] of 2 or 3 axes at a grid [N, ..., axes] (ops/grid.h); the gradients of x (needed & 1), grid (& 2).
API Tensor* grid_sample_tensor(Tensor* x, Tensor* grid, int32_t mode, int32_t border, int32_t align);
API Results* grid_sample_backward(Tensor* gradient, Tensor* x, Tensor* grid, int32_t mode, int32_t border,
                                  int32_t align, int32_t needed);
// x with other elements along an axis: output o is the sum over t < counts[o] of weights[t, o] * x at places[t, o].
// counts [outputs] and places [taps, outputs] are int32; the weights have x's dtype, or float32 if that is narrow.
API Tensor* resample_tensor(Tensor* x, int64_t axis, Tensor* counts, Tensor* places, Tensor* weights);

// ---- Windows over images [N, C, ...] with one to three axes (api/windows.cpp). A window has five settings for each
//      axis: kernel, stride, dilation, padding before, padding after.
API Tensor* unfold_tensor(Tensor* x, const int64_t* window);  // [N, C * taps, outputs]
API Tensor* fold_tensor(Tensor* columns, const int64_t* window, const int64_t* sizes,
                        int32_t axes);  // the sums of columns, in images of these sizes
API Tensor* conv_tensor(Tensor* x, Tensor* weight, Tensor* bias, const int64_t* window,
                        int64_t groups);  // bias or null
// Three results: the gradients of x (needed & 1), weight (& 2) and bias (& 4).
API Results* conv_backward(Tensor* gradient, Tensor* x, Tensor* weight, const int64_t* window, int64_t groups,
                           int32_t needed);
// Pools (api/pooling.cpp); `sizes` are those of the axes: of the results of adaptive pools, of the images in a backward.
// With `ceil` a last window may begin inside the image and end outside. max_pool: the largest and their places, or no
// places (`with_places` 0). In its backward no window means adaptive.
API Results* max_pool_tensor(Tensor* x, const int64_t* window, int32_t ceil, int32_t with_places);
API Tensor* max_pool_backward(Tensor* gradient, Tensor* indices, const int64_t* window, int32_t ceil,
                              const int64_t* sizes);
API Results* adaptive_max_pool_tensor(Tensor* x, const int64_t* sizes);
// Averages over the window, of `divisor` elements (0: of those it has).
API Tensor* avg_pool_tensor(Tensor* x, const int64_t* window, int32_t ceil, int32_t counts_padding, double divisor);
API Tensor* avg_pool_backward(Tensor* gradient, const int64_t* window, int32_t ceil, int32_t counts_padding,
                              double divisor, const int64_t* sizes);
API Tensor* adaptive_avg_pool_tensor(Tensor* x, const int64_t* sizes);
API Tensor* adaptive_avg_pool_backward(Tensor* gradient, const int64_t* sizes);

// ---- Normalization (api/normalization.cpp) of x as [outer, groups, inner], with a mean and a variance for each group.
//      Weight and bias may be null. They have an element for each position of inner (affine 0), for each group (1), or for
//      each channel of x [N, C, ...], whose groups are parts of the channels of a sample (2).
//      Results: (x - mean) / sqrt(variance + eps) * weight + bias, mean [groups], variance [groups] (divided by n)
API Results* normalize_tensor(Tensor* x, Tensor* weight, Tensor* bias, int64_t outer, int64_t groups, int32_t affine,
                              double eps);
// Three results: the gradients of x (needed & 1), weight (& 2) and bias (& 4); & 8: mean and variance do not depend on x,
// by group.
API Results* normalize_backward(Tensor* gradient, Tensor* x, Tensor* weight, Tensor* mean, Tensor* variance,
                                int64_t outer, int64_t groups, int32_t affine, double eps, int32_t needed);
// The running mean and variance (or null) after a batch, in place: running (1 - momentum) + momentum * fresh, where the
// variance is fresh times a factor.
API int move_statistics(Tensor* mean, Tensor* fresh_mean, Tensor* variance, Tensor* fresh_variance, double momentum,
                        double factor);
// (x - mean) / sqrt(variance + eps) * weight + bias of each channel
API Tensor* normalize_by_tensor(Tensor* x, Tensor* weight, Tensor* bias, Tensor* mean, Tensor* variance, double eps);
// Attention (ops/attention.h): query [..., L, E], key [..., S, E], value [..., S, V], whose leading sizes broadcast, and a
// mask that broadcasts to [..., L, S], of bool or of numbers in the wide dtype, or null.
//      results: [..., L, V], and the logarithms of the sums [..., L] that attention_backward wants
API Results* attention_tensor(Tensor* query, Tensor* key, Tensor* value, Tensor* mask, double scale, int32_t causal,
                              double dropout, uint64_t seed, uint64_t draw);
// Gradients of query (needed & 1), key (& 2) and value (& 4), in the shapes that they broadcast to.
API Results* attention_backward(Tensor* gradient, Tensor* query, Tensor* key, Tensor* value, Tensor* mask, Tensor* out,
                                Tensor* log_sum, double scale, int32_t causal, double dropout, uint64_t seed,
                                uint64_t draw, int32_t needed);

// `steps` times, in bfloat16: x = a x + (b S + c S S) x with S = x x^T, for a matrix (norch/optim/muon.py).
API Tensor* newton_schulz_tensor(Tensor* x, double a, double b, double c, int32_t steps);
