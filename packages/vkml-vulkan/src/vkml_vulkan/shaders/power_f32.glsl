#ifndef POWER_F32_GLSL
#define POWER_F32_GLSL

#include "exponential_f32.glsl"
#include "logarithm_f32.glsl"
#include "numbers.glsl"
#include "two_floats.glsl"

// log2(x) to about 36 bits for finite x > 0, from log(1 + f) = 2 atanh(s) with s = f / (2 + f),
// |s| < 0.172.
vec2 log2_pair(float x) {
    int exponent;
    float f = log_reduce(x, exponent);
    vec2 s = divide_pair(f, fast_two_sum(2.0, f));
    vec2 z = multiply_pairs(s, s);
    // atanh(s) / s = 1 + z / 3 + z^2 q(z). Minimax fit of its relative error: below 2^-36.
    float q = 0.11709884;
    q = q * z.x + 0.14273544;
    q = q * z.x + 0.20000076;
    vec2 series = multiply_pairs(z, vec2(0.33333334, -9.934108e-9));
    series = fast_two_sum(series.x, series.y + z.x * z.x * q);
    vec2 y = multiply_pairs(s, vec2(2.88539, 3.851926e-8));  // 2 / ln 2
    y = add_pairs(y, multiply_pairs(y, series));
    return add_pairs(vec2(float(exponent), 0.0), y);
}

// 2^(a.x + a.y), so close that results with a float of their own come out exact.
float exp2_of_pair(vec2 a) {
    float bounded = within(a.x, -160.0, 140.0);
    // Far outside the range the lower part may be large: it no longer matters.
    float a_low = bounded == a.x ? a.y : 0.0;
    float multiple = floor(bounded + 0.5);
    vec2 r = two_product(bounded - multiple, LN_2);
    r.y += (bounded - multiple) * -1.9046542e-9 + a_low * LN_2;
    precise float rest = r.x * r.x * exp_rest(r.x);
    rest += r.y + r.y * (r.x + rest);
    precise float y = 1.0 + (r.x + rest);
    return scale_by_power_of_two(y, int(multiple));
}

// All edges as IEEE 754 pow.
float own_pow(float x, float y) {
    if (is_zero(y) || x == 1.0) return 1.0;
    if (is_nan(x)) return x;
    if (is_nan(y)) return y;
    // From 2^23 on every float is whole, from 2^24 on every one is even.
    bool whole = abs(y) >= 8388608.0 || floor(y) == y;
    bool odd = whole && abs(y) < 16777216.0 && (int(y) & 1) != 0;
    uint sign = odd ? sign_bit(x) : 0u;
    float magnitude = abs(x);
    if (is_zero(x) || is_infinite(x) || is_infinite(y)) {
        if (magnitude == 1.0) return 1.0;
        return flip_sign((magnitude > 1.0) == (sign_bit(y) == 0u) ? INFINITY_F32 : 0.0, sign);
    }
    if (sign_bit(x) != 0u && !whole) return NAN_F32;
    // Beyond 2^40 the result is 0, 1 or infinite in any case, and the product would overflow.
    vec2 power = multiply_pairs(log2_pair(magnitude), vec2(within(y, -1.0e12, 1.0e12), 0.0));
    return flip_sign(exp2_of_pair(power), sign);
}

float own_rsqrt(float x) {
    if (is_zero(x)) return flip_sign(INFINITY_F32, sign_bit(x));
    if (is_nan(x)) return x;
    if (sign_bit(x) != 0u) return NAN_F32;
    return is_infinite(x) ? 0.0 : inversesqrt(x);
}

#endif
