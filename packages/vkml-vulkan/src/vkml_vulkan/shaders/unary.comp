// Functions of one operand, elementwise.
#version 460
#extension GL_GOOGLE_include_directive : require

#define OPERANDS 1
#include "elementwise.glsl"
#include "arithmetic.glsl"
#include "operation_codes.glsl"

#if defined(CLASS_F32)
#include "math_f32.glsl"
#elif defined(CLASS_F64)
#include "math_f64.glsl"
#endif

#if defined(CLASS_F32) || defined(CLASS_F64)

Value compute(Value x) {
    switch (OPERATION) {
    case OP_NEG: return -x;
    case OP_ABS: return abs(x);
    case OP_SIGN: return x > Value(0) ? Value(1) : x < Value(0) ? Value(-1) : Value(0);
    case OP_FLOOR: return floor(x);
    case OP_CEIL: return ceil(x);
    case OP_ROUND: return roundEven(x);
    case OP_TRUNC: return trunc(x);
    case OP_SQUARE: return x * x;
    case OP_RECIPROCAL: return Value(1) / x;
    case OP_SQRT: return sqrt(x);
    case OP_RSQRT: return own_rsqrt(x);
    case OP_EXP: return own_exp(x);
    case OP_EXP2: return own_exp2(x);
    case OP_EXPM1: return own_expm1(x);
    case OP_LOG: return own_log(x);
    case OP_LOG2: return own_log2(x);
    case OP_LOG10: return own_log10(x);
    case OP_LOG1P: return own_log1p(x);
    case OP_SIN: return own_sin(x);
    case OP_COS: return own_cos(x);
    case OP_TAN: return own_tan(x);
    case OP_ASIN: return own_asin(x);
    case OP_ACOS: return own_acos(x);
    case OP_ATAN: return own_atan(x);
    case OP_SINH: return own_sinh(x);
    case OP_COSH: return own_cosh(x);
    case OP_TANH: return own_tanh(x);
    case OP_ERF: return own_erf(x);
    case OP_SIGMOID: return own_sigmoid(x);
    default: return x;
    }
}

#else

Value sign_of(Value x) {
    if (value_equal(x, value_zero())) return value_zero();
#if defined(CLASS_U32) || defined(CLASS_U64)
    return value_one();
#else
    return value_less(x, value_zero()) ? value_negate(value_one()) : value_one();
#endif
}

// The reciprocal of a whole number is whole only for 1 and -1.
Value reciprocal_of(Value x) {
    bool is_unit = value_equal(x, value_one());
#if defined(CLASS_I32) || defined(CLASS_I64)
    is_unit = is_unit || value_equal(x, value_negate(value_one()));
#endif
    return is_unit ? x : value_zero();
}

Value compute(Value x) {
    switch (OPERATION) {
    case OP_NEG: return value_negate(x);
#if defined(CLASS_I32) || defined(CLASS_I64)
    case OP_ABS: return value_less(x, value_zero()) ? value_negate(x) : x;
#endif
    case OP_SIGN: return sign_of(x);
    case OP_SQUARE: return value_multiply(x, x);
    case OP_RECIPROCAL: return reciprocal_of(x);
    case OP_BITWISE_NOT: return RESULT_CODE == STORED_BOOL ? value_subtract(value_one(), x) : ~x;
    default: return x;
    }
}

#endif

void main() {
    Places places = find_places();
    uvec2 bits[ELEMENTS];
    load_operand(0, OPERAND_CODE, places, bits);
    uint code = code_of_operand(0, OPERAND_CODE);
    for (uint each = 0; each < ELEMENTS; each++)
        bits[each] = bits_of_value(compute(value_of_bits(bits[each], code)), RESULT_CODE);
    store_result(places, bits);
}
