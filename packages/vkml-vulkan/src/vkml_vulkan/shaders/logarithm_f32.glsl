#ifndef LOGARITHM_F32_GLSL
#define LOGARITHM_F32_GLSL

#include "numbers.glsl"
#include "two_floats.glsl"

// x = 2^exponent (1 + f) with 1 + f from sqrt(1/2) to sqrt(2), for finite x > 0. By integers, so
// that denormals are right also where float arithmetic reads them as zero.
float log_reduce(float x, out int exponent) {
    uint bits = floatBitsToUint(x);
    int shift = bits < 0x00800000u ? 23 - findMSB(bits) : 0;
    bits <<= shift;
    const uint SQRT_HALF = 0x3f3504f3u;
    int steps = int(bits - SQRT_HALF) >> 23;
    exponent = steps - shift;
    return uintBitsToFloat(bits - uint(steps << 23)) - 1.0;
}

// log(1 + f) - f for 1 + f from sqrt(1/2) to sqrt(2).
// Minimax fit of the relative error of log(1 + f): below 2^-29.
float log_rest(float f) {
    float q = 0.05340119;
    q = q * f - 0.10917247;
    q = q * f + 0.121089086;
    q = q * f - 0.12549645;
    q = q * f + 0.14209558;
    q = q * f - 0.16659367;
    q = q * f + 0.20002224;
    q = q * f - 0.25000167;
    q = q * f + 0.33333313;
    return f * f * (q * f - 0.5);
}

// y, or the logarithm of an x that is not positive and finite.
float log_or_edge(float x, float y) {
    if (is_nan(x)) return x;
    if (is_zero(x)) return -INFINITY_F32;
    if (sign_bit(x) != 0u) return NAN_F32;
    return is_infinite(x) ? x : y;
}

// log(2^exponent (1 + f)) + small.
float log_of_parts(int exponent, float f, float small) {
    // ln 2 in two parts; multiples of the first by an exponent are exact.
    float y = log_rest(f) + (small - 2.12194440e-4 * float(exponent));
    return (f + y) + 0.693359375 * float(exponent);
}

float own_log(float x) {
    int exponent;
    float f = log_reduce(x, exponent);
    return log_or_edge(x, log_of_parts(exponent, f, 0.0));
}

float own_log1p(float x) {
    // log(sum.x + sum.y) = log(sum.x) + sum.y / sum.x, as sum.y is below half a unit of sum.x.
    vec2 sum = two_sum(1.0, x);
    int exponent;
    float f = log_reduce(sum.x, exponent);
    float y = log_or_edge(sum.x, log_of_parts(exponent, f, sum.y / sum.x));
    // Below 2^-25 the result is x, with the sign of a zero.
    return magnitude_bits(x) < 0x33000000u || is_nan(x) ? x : y;
}

// log(x) / log(base), given 1 / log(base) and log(2) / log(base) in two parts of which the first
// has at most 12 bits. The large products are exact, so that powers of the base give whole numbers.
float log_to_base(float x, vec2 per_log, vec2 per_exponent) {
    int exponent;
    float f = log_reduce(x, exponent);
    float n = float(exponent);
    float f_high = upper_half(f);
    precise float f_low = (f - f_high) + log_rest(f);
    precise vec2 sum = two_sum(n * per_exponent.x, f_high * per_log.x);
    sum.y += n * per_exponent.y + (f_high * per_log.y + f_low * (per_log.x + per_log.y));
    return log_or_edge(x, sum.x + sum.y);
}

float own_log2(float x) {
    return log_to_base(x, vec2(1.44287109375, -0.00017605285), vec2(1.0, 0.0));
}

float own_log10(float x) {
    return log_to_base(x, vec2(0.434326171875, -3.168997e-05), vec2(0.301025390625, 4.605039e-06));
}

#endif
