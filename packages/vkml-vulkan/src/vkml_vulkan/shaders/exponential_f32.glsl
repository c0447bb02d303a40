#ifndef EXPONENTIAL_F32_GLSL
#define EXPONENTIAL_F32_GLSL

#include "numbers.glsl"

const float LOG2_E = 1.44269504;
const float LN_2 = 0.69314718;
// ln 2 in two parts; multiples of the first up to 2^15 are exact.
const float LN_2_HIGH = 0.693359375;
const float LN_2_LOW = -2.12194440e-4;

// q(r) of e^r = 1 + r + r^2 q(r) for |r| <= ln(2) / 2.
// Minimax fit of the relative error of e^r - 1: below 2^-30.
float exp_rest(float r) {
    float q = 0.00019664454;
    q = q * r + 0.0013935101;
    q = q * r + 0.008333644;
    q = q * r + 0.041666467;
    q = q * r + 0.16666666;
    return q * r + 0.5;
}

// e^r - 1 for |r| <= ln(2) / 2.
float expm1_reduced(float r) {
    precise float y = r + r * r * exp_rest(r);
    return y;
}

// x = n ln 2 + r with |r| <= ln(2) / 2, for |x| up to 10000.
float exp_reduce(float x, out int n) {
    float multiple = floor(x * LOG2_E + 0.5);
    n = int(multiple);
    precise float r = (x - multiple * LN_2_HIGH) - multiple * LN_2_LOW;
    return r;
}

// e^x 2^exponent for a small exponent: halves of e^x where e^x itself overflows.
float exp_scaled(float x, int exponent) {
    int n;
    // e^-105 is 0 and e^92 / 4 infinite in float32.
    float r = exp_reduce(within(x, -105.0, 92.0), n);
    precise float y = 1.0 + expm1_reduced(r);
    y = scale_by_power_of_two(y, n + exponent);
    return is_nan(x) ? x : y;
}

float own_exp(float x) { return exp_scaled(x, 0); }

float own_exp2(float x) {
    float bounded = within(x, -151.0, 129.0);
    float multiple = floor(bounded + 0.5);
    float r = (bounded - multiple) * LN_2;
    precise float y = 1.0 + expm1_reduced(r);
    y = scale_by_power_of_two(y, int(multiple));
    return is_nan(x) ? x : y;
}

float own_expm1(float x) {
    int n;
    // e^-20 - 1 is -1 in float32.
    float r = exp_reduce(within(x, -20.0, 92.0), n);
    // e^x - 1 = 2^n ((e^r - 1) + (1 - 2^-n)); from n = 25 on the last term is 1.
    float rest = 1.0 - power_of_two(-min(n, 25));
    float y = scale_by_power_of_two(expm1_reduced(r) + rest, n);
    // Below 2^-25 the result is x, with the sign of a zero.
    return magnitude_bits(x) < 0x33000000u || is_nan(x) ? x : y;
}

// 1 / (1 + e^-x), from e^-|x| so that nothing overflows.
float own_sigmoid(float x) {
    float e = own_exp(-abs(x));
    float y = (x < 0.0 ? e : 1.0) / (1.0 + e);
    return is_nan(x) ? x : y;
}

#endif
