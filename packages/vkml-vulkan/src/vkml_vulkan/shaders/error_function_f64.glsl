#ifndef ERROR_FUNCTION_F64_GLSL
#define ERROR_FUNCTION_F64_GLSL

#include "exponential_f64.glsl"
#include "numbers_f64.glsl"

double own_erf(double x) {
    double magnitude = abs(x);
    double y;
    if (magnitude < 1.0lf) {
        // erf(x) / x - 1. Minimax fit of the relative error of erf(x): below 2^-56.
        double z = magnitude * magnitude;
        double q = 5.945262311366498e-11lf;
        q = q * z - 1.1365665359714586e-9lf;
        q = q * z + 1.4657879450379759e-8lf;
        q = q * z - 1.6350025131339397e-7lf;
        q = q * z + 1.6460972805633744e-6lf;
        q = q * z - 1.4925593506039327e-5lf;
        q = q * z + 0.00012055331036860156lf;
        q = q * z - 0.0008548326978741064lf;
        q = q * z + 0.005223977624780846lf;
        q = q * z - 0.026866170645072893lf;
        q = q * z + 0.11283791670954857lf;
        q = q * z - 0.3761263890318375lf;
        q = q * z + 0.1283791670955126lf;
        y = magnitude + magnitude * q;
    } else {
        // log(1 - erf(x)) up to 6, beyond which erf is 1 in float64.
        // Minimax fit of the relative error of erf(x): below 2^-51.
        double t = within(magnitude, 1.0lf, 6.0lf);
        double q = -1.2918680312231984e-10lf;
        q = q * t + 5.781422073167427e-9lf;
        q = q * t - 1.1749706089976639e-7lf;
        q = q * t + 1.451033208427115e-6lf;
        q = q * t - 1.2235162059534677e-5lf;
        q = q * t + 7.461011759876501e-5lf;
        q = q * t - 0.0003367617599379997lf;
        q = q * t + 0.001107583429611091lf;
        q = q * t - 0.0023557276455540674lf;
        q = q * t + 0.0008537774123700551lf;
        q = q * t + 0.018652577056661106lf;
        q = q * t - 0.10251559657858043lf;
        q = q * t - 0.6367155843235721lf;
        q = q * t - 1.1283571393826777lf;
        q = q * t - 2.352285491528713e-6lf;
        y = 1.0lf - own_exp(q);
    }
    return is_nan(x) ? x : flip_sign(y, sign_bit(x));
}

#endif
