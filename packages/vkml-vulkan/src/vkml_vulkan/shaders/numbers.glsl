#ifndef NUMBERS_GLSL
#define NUMBERS_GLSL

// Special numbers, told apart by their bits: drivers may assume in float arithmetic that there is
// no NaN, and may read a denormal as zero.

#define INFINITY_F32 uintBitsToFloat(0x7f800000u)
#define NAN_F32 uintBitsToFloat(0x7fc00000u)

const uint SIGN_BIT = 0x80000000u;

uint magnitude_bits(float x) { return floatBitsToUint(x) & 0x7fffffffu; }

uint sign_bit(float x) { return floatBitsToUint(x) & SIGN_BIT; }

bool is_nan(float x) { return magnitude_bits(x) > 0x7f800000u; }

bool is_infinite(float x) { return magnitude_bits(x) == 0x7f800000u; }

bool is_finite(float x) { return magnitude_bits(x) < 0x7f800000u; }

bool is_zero(float x) { return magnitude_bits(x) == 0u; }

float flip_sign(float x, uint sign) { return uintBitsToFloat(floatBitsToUint(x) ^ sign); }

// NaN if either is NaN, as torch.maximum and torch.minimum.
float max_keeping_nan(float a, float b) { return is_nan(a) ? a : is_nan(b) ? b : a > b ? a : b; }

float min_keeping_nan(float a, float b) { return is_nan(a) ? a : is_nan(b) ? b : a < b ? a : b; }

// x within [low, high]; NaN becomes high, so that a later conversion to an integer is defined.
float within(float x, float low, float high) { return x < high ? (x > low ? x : low) : high; }

// 2^exponent for exponents of normal numbers, -126 to 127.
float power_of_two(int exponent) { return uintBitsToFloat(uint(exponent + 127) << 23); }

// value * 2^exponent, exponent from -252 to 254, rounded once also where the result is denormal.
float scale_by_power_of_two(float value, int exponent) {
    int first = exponent >> 1;
    precise float scaled = value * power_of_two(first);
    scaled *= power_of_two(exponent - first);
    return scaled;
}

#endif
