#ifndef INVERSE_TRIGONOMETRIC_F64_GLSL
#define INVERSE_TRIGONOMETRIC_F64_GLSL

#include "numbers_f64.glsl"

const double HALF_PI_F64 = 1.5707963267948966lf;
// HALF_PI_F64 + HALF_PI_LOW_F64 is pi / 2 to 106 bits.
const double HALF_PI_LOW_F64 = 6.123233995736766e-17lf;

// asin(x) - x for x^2 = z <= 1/4. Minimax fit of the relative error of asin(x): below 2^-58.
double asin_rest(double x, double z) {
    double q = 0.032628308562733764lf;
    q = q * z - 0.020998552503398927lf;
    q = q * z + 0.021707082394141233lf;
    q = q * z + 0.0037065602763554743lf;
    q = q * z + 0.010780212342212946lf;
    q = q * z + 0.011398919457008027lf;
    q = q * z + 0.013980819669019939lf;
    q = q * z + 0.017351612085954392lf;
    q = q * z + 0.02237221498367034lf;
    q = q * z + 0.03038194270792583lf;
    q = q * z + 0.04464285717460869lf;
    q = q * z + 0.07499999999970804lf;
    q = q * z + 0.1666666666666676lf;
    return x * z * q;
}

double own_asin(double x) {
    double magnitude = abs(x);
    if (is_nan(x)) return x;
    if (magnitude > 1.0lf) return NAN_F64;
    if (magnitude <= 0.5lf) return x + asin_rest(x, x * x);
    // asin(x) = pi / 2 - 2 asin(sqrt((1 - x) / 2))
    double z = 0.5lf * (1.0lf - magnitude);
    double root = sqrt(z);
    double y = HALF_PI_F64 - (2.0lf * (root + asin_rest(root, z)) - HALF_PI_LOW_F64);
    return flip_sign(y, sign_bit(x));
}

double own_acos(double x) {
    double magnitude = abs(x);
    if (is_nan(x)) return x;
    if (magnitude > 1.0lf) return NAN_F64;
    if (magnitude <= 0.5lf) return HALF_PI_F64 - (x + (asin_rest(x, x * x) - HALF_PI_LOW_F64));
    double z = 0.5lf * (1.0lf - magnitude);
    double root = sqrt(z);
    double y = 2.0lf * (root + asin_rest(root, z));
    return x > 0.0lf ? y : 2.0lf * HALF_PI_F64 - (y - 2.0lf * HALF_PI_LOW_F64);
}

double own_atan(double x) {
    double magnitude = abs(x);
    // tan(3 pi / 8) and tan(pi / 8): t stays within tan(pi / 8).
    double t = magnitude;
    double base = 0.0lf;
    double base_low = 0.0lf;
    if (magnitude > 2.414213562373095lf) {
        t = -1.0lf / magnitude;
        base = HALF_PI_F64;
        base_low = HALF_PI_LOW_F64;
    } else if (magnitude > 0.41421356237309503lf) {
        t = (magnitude - 1.0lf) / (magnitude + 1.0lf);
        base = 0.5lf * HALF_PI_F64;
        base_low = 0.5lf * HALF_PI_LOW_F64;
    }
    // Minimax fit of the relative error: below 2^-58.
    double z = t * t;
    double q = 0.015180702989222559lf;
    q = q * z - 0.03345964441486094lf;
    q = q * z + 0.04502885590759096lf;
    q = q * z - 0.05218233647062269lf;
    q = q * z + 0.058769939858748475lf;
    q = q * z - 0.06666223770928645lf;
    q = q * z + 0.0769228254536924lf;
    q = q * z - 0.09090908134547768lf;
    q = q * z + 0.11111111087884093lf;
    q = q * z - 0.14285714285382986lf;
    q = q * z + 0.19999999999997625lf;
    q = q * z - 0.33333333333333326lf;
    double y = base + (t + (t * z * q + base_low));
    return is_nan(x) ? x : flip_sign(y, sign_bit(x));
}

#endif
