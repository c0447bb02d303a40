#ifndef NUMBERS_F64_GLSL
#define NUMBERS_F64_GLSL

#include "numbers.glsl"

// As numbers.glsl, for doubles. Their bits are two 32-bit words: no 64-bit integers are needed.

#define INFINITY_F64 packDouble2x32(uvec2(0u, 0x7ff00000u))
#define NAN_F64 packDouble2x32(uvec2(0u, 0x7ff80000u))

uint low_word(double x) { return unpackDouble2x32(x).x; }

uint high_word(double x) { return unpackDouble2x32(x).y; }

uint high_magnitude(double x) { return high_word(x) & 0x7fffffffu; }

uint sign_bit(double x) { return high_word(x) & SIGN_BIT; }

bool is_infinite(double x) { return high_magnitude(x) == 0x7ff00000u && low_word(x) == 0u; }

bool is_nan(double x) { return high_magnitude(x) >= 0x7ff00000u && !is_infinite(x); }

bool is_finite(double x) { return high_magnitude(x) < 0x7ff00000u; }

bool is_zero(double x) { return (high_magnitude(x) | low_word(x)) == 0u; }

double flip_sign(double x, uint sign) {
    return packDouble2x32(unpackDouble2x32(x) ^ uvec2(0u, sign));
}

double max_keeping_nan(double a, double b) {
    return is_nan(a) ? a : is_nan(b) ? b : a > b ? a : b;
}

double min_keeping_nan(double a, double b) {
    return is_nan(a) ? a : is_nan(b) ? b : a < b ? a : b;
}

// x within [low, high]; NaN becomes high.
double within(double x, double low, double high) { return x < high ? (x > low ? x : low) : high; }

// 2^exponent for exponents of normal numbers, -1022 to 1023.
double power_of_two_f64(int exponent) {
    return packDouble2x32(uvec2(0u, uint(exponent + 1023) << 20));
}

// value * 2^exponent, exponent from -2044 to 2046, rounded once also where the result is denormal.
double scale_by_power_of_two(double value, int exponent) {
    int first = exponent >> 1;
    precise double scaled = value * power_of_two_f64(first);
    scaled *= power_of_two_f64(exponent - first);
    return scaled;
}

#endif
