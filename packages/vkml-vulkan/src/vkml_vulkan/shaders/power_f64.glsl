#ifndef POWER_F64_GLSL
#define POWER_F64_GLSL

#include "exponential_f64.glsl"
#include "logarithm_f64.glsl"
#include "numbers_f64.glsl"
#include "two_doubles.glsl"

// log2(x) to about 65 bits for finite x > 0, from log(1 + f) = 2 atanh(s) with s = f / (2 + f),
// |s| < 0.172.
dvec2 log2_pair(double x) {
    int exponent;
    double f = log_reduce(x, exponent);
    dvec2 s = divide_pair(f, fast_two_sum(2.0lf, f));
    dvec2 z = multiply_pairs(s, s);
    // atanh(s) / s = 1 + z / 3 + z^2 q(z). Minimax fit of its relative error: below 2^-65.
    double q = 0.06598854158502125lf;
    q = q * z.x + 0.06628336680338578lf;
    q = q * z.x + 0.07693381668686178lf;
    q = q * z.x + 0.09090892120621293lf;
    q = q * z.x + 0.11111111260653203lf;
    q = q * z.x + 0.14285714285046078lf;
    q = q * z.x + 0.20000000000001136lf;
    dvec2 series = multiply_pairs(z, dvec2(0.3333333333333333lf, 1.850371707708594e-17lf));
    series = fast_two_sum(series.x, series.y + z.x * z.x * q);
    dvec2 y = multiply_pairs(s, dvec2(2.8853900817779268lf, 4.0710547481862066e-17lf));  // 2 / ln 2
    y = add_pairs(y, multiply_pairs(y, series));
    return add_pairs(dvec2(double(exponent), 0.0lf), y);
}

// 2^(a.x + a.y), so close that results with a double of their own come out exact.
double exp2_of_pair(dvec2 a) {
    double bounded = within(a.x, -1100.0lf, 1050.0lf);
    // Far outside the range the lower part may be large: it no longer matters.
    double a_low = bounded == a.x ? a.y : 0.0lf;
    double multiple = floor(bounded + 0.5lf);
    dvec2 r = two_product(bounded - multiple, LN_2_F64);
    r.y += (bounded - multiple) * 2.3190468138462996e-17lf + a_low * LN_2_F64;
    precise double rest = r.x * r.x * exp_rest(r.x);
    rest += r.y + r.y * (r.x + rest);
    precise double y = 1.0lf + (r.x + rest);
    return scale_by_power_of_two(y, int(multiple));
}

// All edges as IEEE 754 pow.
double own_pow(double x, double y) {
    if (is_zero(y) || x == 1.0lf) return 1.0lf;
    if (is_nan(x)) return x;
    if (is_nan(y)) return y;
    // From 2^52 on every double is whole, from 2^53 on every one is even.
    bool whole = abs(y) >= 4503599627370496.0lf || floor(y) == y;
    bool odd = whole && abs(y) < 9007199254740992.0lf && floor(0.5lf * y) != 0.5lf * y;
    uint sign = odd ? sign_bit(x) : 0u;
    double magnitude = abs(x);
    if (is_zero(x) || is_infinite(x) || is_infinite(y)) {
        if (magnitude == 1.0lf) return 1.0lf;
        return flip_sign((magnitude > 1.0lf) == (sign_bit(y) == 0u) ? INFINITY_F64 : 0.0lf, sign);
    }
    if (sign_bit(x) != 0u && !whole) return NAN_F64;
    // Beyond 2^66 the result is 0, 1 or infinite in any case, and the product would overflow.
    dvec2 bounded = dvec2(within(y, -1.0e20lf, 1.0e20lf), 0.0lf);
    dvec2 power = multiply_pairs(log2_pair(magnitude), bounded);
    return flip_sign(exp2_of_pair(power), sign);
}

double own_rsqrt(double x) {
    if (is_zero(x)) return flip_sign(INFINITY_F64, sign_bit(x));
    if (is_nan(x)) return x;
    if (sign_bit(x) != 0u) return NAN_F64;
    return is_infinite(x) ? 0.0lf : 1.0lf / sqrt(x);
}

#endif
