// Elementwise functions that are composed of kernels, for all devices.

#include <math.h>

#include "api.h"
#include "api/checks.h"

static Owned where(const Owned& condition, const Owned& x, const Owned& y) {
    return taken(where_tensor(condition.tensor, x.tensor, y.tensor));
}

Tensor* nan_to_num_tensor(Tensor* x, double nan, double above, double below, int32_t clamps) {
    return build([&] {
        const Owned for_nan = real_number(nan), most = real_number(above), least = real_number(below);
        const Owned is_nan = taken(isnan_tensor(x));
        if (clamps) return where(is_nan, for_nan, taken(clamp_tensor(x, least.tensor, most.tensor)));
        const Owned infinity = real_number(INFINITY), less = real_number(-INFINITY);
        const Owned is_most = taken(eq_tensor(x, infinity.tensor)), is_least = taken(eq_tensor(x, less.tensor));
        return where(is_nan, for_nan, where(is_least, least, taken(where_tensor(is_most.tensor, most.tensor, x))));
    });
}

Tensor* sinc_tensor(Tensor* x) {
    return build([&] {
        const Owned pi = real_number(3.14159265358979323846), one = real_number(1), none = real_number(0);
        const Owned zero = taken(eq_tensor(x, none.tensor));
        const Owned angle = where(zero, one, taken(elementwise_mul_tensor(x, pi.tensor)));
        const Owned sine = taken(sin_tensor(angle.tensor));
        return where(zero, one, taken(div_tensor(sine.tensor, angle.tensor)));
    });
}

Tensor* logit_tensor(Tensor* x) {
    return build([&] {
        const Owned less = taken(neg_tensor(x)), yes = taken(log_tensor(x)), no = taken(log1p_tensor(less.tensor));
        return taken(sub_tensor(yes.tensor, no.tensor));
    });
}
