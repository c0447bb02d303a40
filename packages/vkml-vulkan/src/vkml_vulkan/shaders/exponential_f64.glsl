#ifndef EXPONENTIAL_F64_GLSL
#define EXPONENTIAL_F64_GLSL

#include "numbers_f64.glsl"

const double LN_2_F64 = 0.6931471805599453lf;
// ln 2 in two parts; multiples of the first up to 2^13 are exact.
const double LN_2_HIGH_F64 = 0.6931471805601177lf;
const double LN_2_LOW_F64 = -1.7239444525614835e-13lf;

// q(r) of e^r = 1 + r + r^2 q(r) for |r| <= ln(2) / 2.
// Minimax fit of the relative error of e^r - 1: below 2^-59.
double exp_rest(double r) {
    double q = 1.6120358013054055e-10lf;
    q = q * r + 2.0922704449299755e-9lf;
    q = q * r + 2.5051966753357827e-8lf;
    q = q * r + 2.755724846480214e-7lf;
    q = q * r + 2.7557319363552794e-6lf;
    q = q * r + 2.4801587353893727e-5lf;
    q = q * r + 0.00019841269841207164lf;
    q = q * r + 0.0013888888888870094lf;
    q = q * r + 0.008333333333333345lf;
    q = q * r + 0.0416666666666667lf;
    q = q * r + 0.16666666666666666lf;
    q = q * r + 0.5lf;
    return q;
}

// e^r - 1 for |r| <= ln(2) / 2.
double expm1_reduced(double r) {
    precise double y = r + r * r * exp_rest(r);
    return y;
}

// x = n ln 2 + r with |r| <= ln(2) / 2, for |x| up to 5000.
double exp_reduce(double x, out int n) {
    double multiple = floor(x * 1.4426950408889634lf + 0.5lf);
    n = int(multiple);
    precise double r = (x - multiple * LN_2_HIGH_F64) - multiple * LN_2_LOW_F64;
    return r;
}

// e^x 2^exponent for a small exponent: halves of e^x where e^x itself overflows.
double exp_scaled(double x, int exponent) {
    int n;
    // e^-746 is 0 and e^712 / 4 infinite in float64.
    double r = exp_reduce(within(x, -746.0lf, 712.0lf), n);
    precise double y = 1.0lf + expm1_reduced(r);
    y = scale_by_power_of_two(y, n + exponent);
    return is_nan(x) ? x : y;
}

double own_exp(double x) { return exp_scaled(x, 0); }

double own_exp2(double x) {
    double bounded = within(x, -1076.0lf, 1025.0lf);
    double multiple = floor(bounded + 0.5lf);
    double r = (bounded - multiple) * LN_2_F64;
    precise double y = 1.0lf + expm1_reduced(r);
    y = scale_by_power_of_two(y, int(multiple));
    return is_nan(x) ? x : y;
}

double own_expm1(double x) {
    int n;
    // e^-40 - 1 is -1 in float64.
    double r = exp_reduce(within(x, -40.0lf, 712.0lf), n);
    // e^x - 1 = 2^n ((e^r - 1) + (1 - 2^-n)); from n = 54 on the last term is 1.
    double rest = 1.0lf - power_of_two_f64(-min(n, 54));
    double y = scale_by_power_of_two(expm1_reduced(r) + rest, n);
    // Below 2^-54 the result is x, with the sign of a zero.
    return high_magnitude(x) < 0x3c900000u || is_nan(x) ? x : y;
}

// 1 / (1 + e^-x), from e^-|x| so that nothing overflows.
double own_sigmoid(double x) {
    double e = own_exp(-abs(x));
    double y = (x < 0.0lf ? e : 1.0lf) / (1.0lf + e);
    return is_nan(x) ? x : y;
}

#endif
