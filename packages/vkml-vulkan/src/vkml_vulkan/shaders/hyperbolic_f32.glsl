#ifndef HYPERBOLIC_F32_GLSL
#define HYPERBOLIC_F32_GLSL

#include "exponential_f32.glsl"
#include "numbers.glsl"

float own_sinh(float x) {
    float magnitude = abs(x);
    float y;
    if (magnitude < 1.0) {
        // Minimax fit of the relative error: below 2^-31.
        float z = magnitude * magnitude;
        float q = 2.7822132e-6;
        q = q * z + 0.00019842896;
        q = q * z + 0.0083333105;
        q = q * z + 0.16666667;
        y = magnitude + magnitude * z * q;
    } else {
        float half_exp = exp_scaled(magnitude, -1);
        y = half_exp - 0.25 / half_exp;
    }
    return is_nan(x) ? x : flip_sign(y, sign_bit(x));
}

float own_cosh(float x) {
    float half_exp = exp_scaled(abs(x), -1);
    return is_nan(x) ? x : half_exp + 0.25 / half_exp;
}

float own_tanh(float x) {
    float magnitude = abs(x);
    float y;
    if (magnitude < 0.5625) {
        // Minimax fit of the relative error: below 2^-29.
        float z = magnitude * magnitude;
        float q = -0.0061704577;
        q = q * z + 0.021000598;
        q = q * z - 0.053835757;
        q = q * z + 0.13332437;
        q = q * z - 0.33333313;
        y = magnitude + magnitude * z * q;
    } else {
        // From 9.02 on tanh is 1 in float32.
        y = 1.0 - 2.0 / (own_exp(2.0 * within(magnitude, 0.0, 10.0)) + 1.0);
    }
    return is_nan(x) ? x : flip_sign(y, sign_bit(x));
}

#endif
