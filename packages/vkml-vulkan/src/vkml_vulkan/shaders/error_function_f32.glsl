#ifndef ERROR_FUNCTION_F32_GLSL
#define ERROR_FUNCTION_F32_GLSL

#include "exponential_f32.glsl"
#include "numbers.glsl"

float own_erf(float x) {
    float magnitude = abs(x);
    float y;
    if (magnitude < 1.0) {
        // erf(x) / x - 1. Minimax fit of the relative error of erf(x): below 2^-29.
        float z = magnitude * magnitude;
        float q = 7.806904e-5;
        q = q * z - 0.0007997853;
        q = q * z + 0.005187162;
        q = q * z - 0.026853347;
        q = q * z + 0.11283579;
        q = q * z - 0.37612626;
        q = q * z + 0.12837917;
        // Where the small part would be denormal, and read as zero, one product.
        y = magnitude < 1.0e-30 ? magnitude * 1.12837917 : magnitude + magnitude * q;
    } else {
        // log(1 - erf(x)) up to 3.95, beyond which erf is 1 in float32.
        // Minimax fit of the relative error of erf(x): below 2^-29.
        float t = within(magnitude, 1.0, 3.95);
        float q = 0.00018637603;
        q = q * t - 0.0029476297;
        q = q * t + 0.021837965;
        q = q * t - 0.10310659;
        q = q * t - 0.63814497;
        q = q * t - 1.1270891;
        q = q * t - 0.00034152574;
        y = 1.0 - own_exp(q);
    }
    return is_nan(x) ? x : flip_sign(y, sign_bit(x));
}

#endif
