// What activations and their backward halves share.
#ifndef ACTIVATION_GLSL
#define ACTIVATION_GLSL

#include "arithmetic.glsl"
#include "operation_codes.glsl"

#if defined(CLASS_F64)
#include "math_f64.glsl"
const Value ROOT_HALF = 0.70710678118654752LF;
const Value ONE_BY_ROOT_TWO_PI = 0.39894228040143268LF;
const Value GELU_SCALE = 0.79788456080286536LF;  // the root of 2 / pi
const Value GELU_CUBIC = 0.044715LF;             // arXiv:1606.08415
#else
#include "math_f32.glsl"
const Value ROOT_HALF = 0.70710678;
const Value ONE_BY_ROOT_TWO_PI = 0.39894228;
const Value GELU_SCALE = 0.79788456;  // the root of 2 / pi
const Value GELU_CUBIC = 0.044715;    // arXiv:1606.08415
#endif

// The larger of x and 0; NaN stays.
Value positive_part(Value x) { return x > Value(0) || value_is_nan(x) ? x : Value(0); }

Value normal_cdf(Value x) { return (own_erf(x * ROOT_HALF) + Value(1)) * Value(0.5); }

Value gelu_tanh(Value x) { return own_tanh((x + x * x * x * GELU_CUBIC) * GELU_SCALE); }

#endif
