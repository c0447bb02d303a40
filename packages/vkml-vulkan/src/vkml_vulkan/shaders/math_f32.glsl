#ifndef MATH_F32_GLSL
#define MATH_F32_GLSL

// Elementary functions in float32, within 1 to 3 units in the last place: GLSL's own may be wrong
// by far more. Special values as NumPy. A kernel that needs one family includes that file alone.

#include "error_function_f32.glsl"
#include "exponential_f32.glsl"
#include "hyperbolic_f32.glsl"
#include "inverse_trigonometric_f32.glsl"
#include "logarithm_f32.glsl"
#include "power_f32.glsl"
#include "trigonometric_f32.glsl"

#endif
