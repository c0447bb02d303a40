// Functions of two operands, elementwise.
#version 460
#extension GL_GOOGLE_include_directive : require

#define OPERANDS 2
#include "elementwise.glsl"
#include "arithmetic.glsl"
#include "operation_codes.glsl"

#if defined(CLASS_F32)
#include "math_f32.glsl"
#include "remainder_f32.glsl"
#elif defined(CLASS_F64)
#include "math_f64.glsl"
#include "remainder_f64.glsl"
#endif

#if defined(CLASS_F32) || defined(CLASS_F64)

// The remainder has the sign of y.
Value remainder_of(Value x, Value y) {
    Value rest = truncated_remainder(x, y);
    if (rest == Value(0)) return y < Value(0) ? -Value(0) : Value(0);
    return (rest < Value(0)) != (y < Value(0)) ? rest + y : rest;
}

// The steps of NumPy, so that a quotient next to a whole number falls to the same side.
Value floor_quotient(Value x, Value y) {
    if (y == Value(0)) return x / y;
    Value rest = truncated_remainder(x, y);
    Value quotient = (x - rest) / y;
    if (rest != Value(0) && (rest < Value(0)) != (y < Value(0))) quotient -= Value(1);
    Value whole = floor(quotient);
    return quotient - whole > Value(0.5) ? whole + Value(1) : whole;
}

Value compute(Value x, Value y) {
    switch (OPERATION) {
    case OP_SUB: return x - y;
    case OP_MUL: return x * y;
    case OP_DIV: return x / y;
    case OP_FLOOR_DIVIDE: return floor_quotient(x, y);
    case OP_REMAINDER: return remainder_of(x, y);
    case OP_POW: return own_pow(x, y);
    case OP_MAXIMUM: return value_maximum(x, y);
    case OP_MINIMUM: return value_minimum(x, y);
    default: return x + y;
    }
}

#else

void divide(Value x, Value y, out Value quotient, out Value rest) {
#if defined(CLASS_I64)
    long_floor_divide(x, y, quotient, rest);
#elif defined(CLASS_U64)
    ulong_divide(x, y, quotient, rest);
#else
    // Dividing by zero is undefined in SPIR-V; the largest number, as 64-bit division gives.
    if (y == Value(0)) {
        quotient = ~Value(0);
        rest = x;
        return;
    }
    quotient = x / y;
    rest = x - quotient * y;
#if defined(CLASS_I32)
    if (rest != 0 && (rest < 0) != (y < 0)) {
        quotient -= 1;
        rest += y;
    }
#endif
#endif
}

bool is_odd(Value x) {
#if defined(CLASS_I64) || defined(CLASS_U64)
    return (x.x & 1u) != 0u;
#else
    return (x & Value(1)) != Value(0);
#endif
}

Value half_of(Value x) {
#if defined(CLASS_I64) || defined(CLASS_U64)
    return uvec2((x.x >> 1) | (x.y << 31), x.y >> 1);
#else
    return x >> 1;
#endif
}

// By squaring. Whole numbers to negative powers are whole only for 1 and -1.
Value power(Value x, Value y) {
#if defined(CLASS_I32) || defined(CLASS_I64)
    if (value_less(y, value_zero())) {
        if (value_equal(x, value_one())) return x;
        if (!value_equal(x, value_negate(value_one()))) return value_zero();
        return is_odd(y) ? x : value_one();
    }
#endif
    Value result = value_one();
    while (!value_equal(y, value_zero())) {
        if (is_odd(y)) result = value_multiply(result, x);
        x = value_multiply(x, x);
        y = half_of(y);
    }
    return result;
}

Value compute(Value x, Value y) {
    Value quotient, rest;
    switch (OPERATION) {
    case OP_SUB: return value_subtract(x, y);
    case OP_MUL: return value_multiply(x, y);
    case OP_FLOOR_DIVIDE: divide(x, y, quotient, rest); return quotient;
    case OP_REMAINDER: divide(x, y, quotient, rest); return rest;
    case OP_POW: return power(x, y);
    case OP_MAXIMUM: return value_maximum(x, y);
    case OP_MINIMUM: return value_minimum(x, y);
    case OP_BITWISE_AND: return x & y;
    case OP_BITWISE_OR: return x | y;
    case OP_BITWISE_XOR: return x ^ y;
    default: return value_add(x, y);
    }
}

#endif

void main() {
    Places places = find_places();
    uvec2 left[ELEMENTS], right[ELEMENTS];
    load_operand(0, OPERAND_CODE, places, left);
    load_operand(1, OPERAND_CODE, places, right);
    uint left_code = code_of_operand(0, OPERAND_CODE);
    uint right_code = code_of_operand(1, OPERAND_CODE);
    for (uint each = 0; each < ELEMENTS; each++) {
        Value x = value_of_bits(left[each], left_code);
        Value y = value_of_bits(right[each], right_code);
        left[each] = bits_of_value(compute(x, y), RESULT_CODE);
    }
    store_result(places, left);
}
