#ifndef MATH_F64_GLSL
#define MATH_F64_GLSL

// Elementary functions in float64, which GLSL does not have. Within 1 to 4 units in the last
// place. Special values as NumPy. A kernel that needs one family includes that file alone.

#include "error_function_f64.glsl"
#include "exponential_f64.glsl"
#include "hyperbolic_f64.glsl"
#include "inverse_trigonometric_f64.glsl"
#include "logarithm_f64.glsl"
#include "power_f64.glsl"
#include "trigonometric_f64.glsl"

#endif
