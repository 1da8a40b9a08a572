// Elementwise functions that are composed of kernels, for all devices.

#include <math.h>

#include "api.h"
#include "api/checks.h"

static Owned where(const Owned& condition, const Owned& x, const Owned& y) {
    return taken(where_tensor(condition.tensor, x.tensor, y.tensor));
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
