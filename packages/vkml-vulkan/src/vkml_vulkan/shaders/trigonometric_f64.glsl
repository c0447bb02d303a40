#ifndef TRIGONOMETRIC_F64_GLSL
#define TRIGONOMETRIC_F64_GLSL

#include "angle_f64.glsl"
#include "numbers_f64.glsl"

// Minimax fit of the relative error: below 2^-57.
double sin_rest(AngleF64 a) {
    double z = a.rest.x * a.rest.x;
    double q = -7.578406901186251e-13lf;
    q = q * z + 1.605836051173349e-10lf;
    q = q * z - 2.5052104861325846e-8lf;
    q = q * z + 2.755731921398721e-6lf;
    q = q * z - 0.00019841269841254652lf;
    q = q * z + 0.008333333333333323lf;
    q = q * z - 0.16666666666666666lf;
    return a.rest.x + (a.rest.x * z * q + a.rest.y);
}

// Minimax fit of the relative error: below 2^-59.
double cos_rest(AngleF64 a) {
    double z = a.rest.x * a.rest.x;
    double q = 4.73766925264783e-14lf;
    q = q * z - 1.1470283038860786e-11lf;
    q = q * z + 2.087675427119611e-9lf;
    q = q * z - 2.755731921492927e-7lf;
    q = q * z + 2.4801587301570388e-5lf;
    q = q * z - 0.0013888888888888872lf;
    q = q * z + 0.041666666666666664lf;
    return 1.0lf - (0.5lf * z - (z * z * q - a.rest.x * a.rest.y));
}

double sin_of_angle(AngleF64 a) {
    double y = (a.quarters & 1u) == 0u ? sin_rest(a) : cos_rest(a);
    return flip_sign(y, (a.quarters & 2u) << 30);
}

double own_sin(double x) {
    if (!is_finite(x)) return is_nan(x) ? x : NAN_F64;
    return flip_sign(sin_of_angle(reduce_angle(abs(x))), sign_bit(x));
}

double own_cos(double x) {
    if (!is_finite(x)) return is_nan(x) ? x : NAN_F64;
    AngleF64 a = reduce_angle(abs(x));
    a.quarters += 1u;
    return sin_of_angle(a);
}

double own_tan(double x) {
    if (!is_finite(x)) return is_nan(x) ? x : NAN_F64;
    AngleF64 a = reduce_angle(abs(x));
    double s = sin_rest(a);
    double c = cos_rest(a);
    double y = (a.quarters & 1u) == 0u ? s / c : -c / s;
    return flip_sign(y, sign_bit(x));
}

#endif
