#ifndef INVERSE_TRIGONOMETRIC_F32_GLSL
#define INVERSE_TRIGONOMETRIC_F32_GLSL

#include "numbers.glsl"

const float HALF_PI = 1.57079637;
// HALF_PI + HALF_PI_LOW is pi / 2 to 48 bits.
const float HALF_PI_LOW = -4.371139e-8;

// asin(x) - x for x^2 = z <= 1/4. Minimax fit of the relative error of asin(x): below 2^-31.
float asin_rest(float x, float z) {
    float q = 0.03769191;
    q = q * z + 0.0143169;
    q = q * z + 0.031838845;
    q = q * z + 0.044513382;
    q = q * z + 0.07500522;
    q = q * z + 0.1666666;
    return x * z * q;
}

float own_asin(float x) {
    if (magnitude_bits(x) > 0x3f800000u) return is_nan(x) ? x : NAN_F32;
    float magnitude = abs(x);
    if (magnitude <= 0.5) return x + asin_rest(x, x * x);
    // asin(x) = pi / 2 - 2 asin(sqrt((1 - x) / 2))
    float z = 0.5 * (1.0 - magnitude);
    float root = sqrt(z);
    float y = HALF_PI - (2.0 * (root + asin_rest(root, z)) - HALF_PI_LOW);
    return flip_sign(y, sign_bit(x));
}

float own_acos(float x) {
    if (magnitude_bits(x) > 0x3f800000u) return is_nan(x) ? x : NAN_F32;
    float magnitude = abs(x);
    if (magnitude <= 0.5) return HALF_PI - (x + (asin_rest(x, x * x) - HALF_PI_LOW));
    float z = 0.5 * (1.0 - magnitude);
    float root = sqrt(z);
    float y = 2.0 * (root + asin_rest(root, z));
    return x > 0.0 ? y : 2.0 * HALF_PI - (y - 2.0 * HALF_PI_LOW);
}

float own_atan(float x) {
    float magnitude = abs(x);
    // tan(3 pi / 8) and tan(pi / 8): t stays within tan(pi / 8).
    float t = magnitude;
    float base = 0.0;
    float base_low = 0.0;
    if (magnitude > 2.41421356) {
        t = -1.0 / magnitude;
        base = HALF_PI;
        base_low = HALF_PI_LOW;
    } else if (magnitude > 0.414213562) {
        t = (magnitude - 1.0) / (magnitude + 1.0);
        base = 0.5 * HALF_PI;
        base_low = 0.5 * HALF_PI_LOW;
    }
    // Minimax fit of the relative error: below 2^-30.
    float z = t * t;
    float q = -0.060887355;
    q = q * z + 0.10598728;
    q = q * z - 0.14244345;
    q = q * z + 0.19998527;
    q = q * z - 0.33333316;
    float y = base + (t + (t * z * q + base_low));
    return is_nan(x) ? x : flip_sign(y, sign_bit(x));
}

#endif
