#ifndef HYPERBOLIC_F64_GLSL
#define HYPERBOLIC_F64_GLSL

#include "exponential_f64.glsl"
#include "numbers_f64.glsl"

double own_sinh(double x) {
    double magnitude = abs(x);
    double y;
    if (magnitude < 1.0lf) {
        double t = own_expm1(magnitude);
        y = 0.5lf * (t + t / (1.0lf + t));
    } else {
        double half_exp = exp_scaled(magnitude, -1);
        y = half_exp - 0.25lf / half_exp;
    }
    return is_nan(x) ? x : flip_sign(y, sign_bit(x));
}

double own_cosh(double x) {
    double half_exp = exp_scaled(abs(x), -1);
    return is_nan(x) ? x : half_exp + 0.25lf / half_exp;
}

double own_tanh(double x) {
    // From 19.1 on tanh is 1 in float64.
    double magnitude = within(abs(x), 0.0lf, 22.0lf);
    // From e^-2x or e^2x, so that nothing cancels.
    double t = own_expm1(magnitude < 0.5lf ? -2.0lf * magnitude : 2.0lf * magnitude);
    double y = magnitude < 0.5lf ? -t / (2.0lf + t) : 1.0lf - 2.0lf / (2.0lf + t);
    return is_nan(x) ? x : flip_sign(y, sign_bit(x));
}

#endif
