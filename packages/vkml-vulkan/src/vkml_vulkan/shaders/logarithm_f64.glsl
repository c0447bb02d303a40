#ifndef LOGARITHM_F64_GLSL
#define LOGARITHM_F64_GLSL

#include "numbers_f64.glsl"
#include "two_doubles.glsl"

// x = 2^exponent (1 + f) with 1 + f from sqrt(1/2) to sqrt(2), for finite x > 0.
double log_reduce(double x, out int exponent) {
    bool denormal = high_word(x) < 0x00100000u;
    uvec2 bits = unpackDouble2x32(denormal ? x * 18014398509481984.0lf : x);  // 2^54
    const uint SQRT_HALF = 0x3fe6a09eu;
    int steps = int(bits.y - SQRT_HALF) >> 20;
    exponent = denormal ? steps - 54 : steps;
    return packDouble2x32(bits - uvec2(0u, uint(steps << 20))) - 1.0lf;
}

// log(1 + f) - f for 1 + f from sqrt(1/2) to sqrt(2), from log(1 + f) = 2 atanh(s) with
// s = f / (2 + f). Minimax fit of the relative error of log(1 + f): below 2^-61.
double log_rest(double f) {
    double s = f / (2.0lf + f);
    double z = s * s;
    double q = 0.1325231961242486lf;
    q = q * z + 0.1325001275003115lf;
    q = q * z + 0.15387095257308858lf;
    q = q * z + 0.18181775567028668lf;
    q = q * z + 0.22222222647965326lf;
    q = q * z + 0.2857142856907859lf;
    q = q * z + 0.4000000000000627lf;
    q = q * z + 0.6666666666666666lf;
    double half_square = 0.5lf * f * f;
    return s * (half_square + z * q) - half_square;
}

// y, or the logarithm of an x that is not positive and finite.
double log_or_edge(double x, double y) {
    if (is_nan(x)) return x;
    if (is_zero(x)) return -INFINITY_F64;
    if (sign_bit(x) != 0u) return NAN_F64;
    return is_infinite(x) ? x : y;
}

// log(2^exponent (1 + f)) + small.
double log_of_parts(int exponent, double f, double small) {
    double y = log_rest(f) + (small + -1.7239444525614835e-13lf * double(exponent));
    return (f + y) + 0.6931471805601177lf * double(exponent);
}

double own_log(double x) {
    int exponent;
    double f = log_reduce(x, exponent);
    return log_or_edge(x, log_of_parts(exponent, f, 0.0lf));
}

double own_log1p(double x) {
    // log(sum.x + sum.y) = log(sum.x) + sum.y / sum.x, as sum.y is below half a unit of sum.x.
    dvec2 sum = two_sum(1.0lf, x);
    int exponent;
    double f = log_reduce(sum.x, exponent);
    double y = log_or_edge(sum.x, log_of_parts(exponent, f, sum.y / sum.x));
    // Below 2^-54 the result is x, with the sign of a zero.
    return high_magnitude(x) < 0x3c900000u || is_nan(x) ? x : y;
}

// log(x) / log(base), as in float32.
double log_to_base(double x, dvec2 per_log, dvec2 per_exponent) {
    int exponent;
    double f = log_reduce(x, exponent);
    double n = double(exponent);
    double f_high = upper_half(f);
    precise double f_low = (f - f_high) + log_rest(f);
    precise dvec2 sum = two_sum(n * per_exponent.x, f_high * per_log.x);
    sum.y += n * per_exponent.y + (f_high * per_log.y + f_low * (per_log.x + per_log.y));
    return log_or_edge(x, sum.x + sum.y);
}

double own_log2(double x) {
    dvec2 per_log = dvec2(1.4426950514316559lf, -1.0542692476429138e-8lf);
    return log_to_base(x, per_log, dvec2(1.0lf, 0.0lf));
}

double own_log10(double x) {
    dvec2 per_log = dvec2(0.4342944845557213lf, -2.6524694553078553e-9lf);
    dvec2 per_exponent = dvec2(0.3010299956640665lf, -8.532344317057107e-14lf);
    return log_to_base(x, per_log, per_exponent);
}

#endif
