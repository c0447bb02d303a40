// Arithmetic under one set of names in every class, for kernels that are written once.
#ifndef ARITHMETIC_GLSL
#define ARITHMETIC_GLSL

#include "values.glsl"
#include "numbers.glsl"

#if defined(CLASS_I64) || defined(CLASS_U64)
#include "integers64.glsl"

Value value_zero() { return uvec2(0u); }
Value value_one() { return uvec2(1u, 0u); }
Value value_add(Value x, Value y) { return long_add(x, y); }
Value value_subtract(Value x, Value y) { return long_subtract(x, y); }
Value value_multiply(Value x, Value y) { return long_multiply(x, y); }
Value value_negate(Value x) { return long_negate(x); }
bool value_equal(Value x, Value y) { return x == y; }
#ifdef CLASS_I64
bool value_less(Value x, Value y) { return long_less(x, y); }
#else
bool value_less(Value x, Value y) { return ulong_less(x, y); }
#endif

#else

Value value_zero() { return Value(0); }
Value value_one() { return Value(1); }
Value value_add(Value x, Value y) { return x + y; }
Value value_subtract(Value x, Value y) { return x - y; }
Value value_multiply(Value x, Value y) { return x * y; }
Value value_negate(Value x) { return Value(-x); }
bool value_equal(Value x, Value y) { return x == y; }
bool value_less(Value x, Value y) { return x < y; }

#endif

#if defined(CLASS_F32)
bool value_is_nan(Value x) { return is_nan(x); }
#elif defined(CLASS_F64)
bool value_is_nan(Value x) {
    uvec2 bits = unpackDouble2x32(x);
    uint upper = bits.y & 0x7FFFFFFFu;
    return upper > 0x7FF00000u || (upper == 0x7FF00000u && bits.x != 0u);
}
#else
bool value_is_nan(Value x) { return false; }
#endif

// NaN if either is NaN.
Value value_maximum(Value x, Value y) {
    if (value_is_nan(x)) return x;
    return value_is_nan(y) || value_less(x, y) ? y : x;
}

Value value_minimum(Value x, Value y) {
    if (value_is_nan(x)) return x;
    return value_is_nan(y) || value_less(y, x) ? y : x;
}

#endif
