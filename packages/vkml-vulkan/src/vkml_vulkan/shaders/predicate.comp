// Questions about one operand, elementwise; the result is bool.
#version 460
#extension GL_GOOGLE_include_directive : require

#define OPERANDS 1
#include "elementwise.glsl"
#include "arithmetic.glsl"
#include "operation_codes.glsl"

#if defined(CLASS_F32) || defined(CLASS_F64)
// Infinity is what stays itself when halved and is not zero; for NaN nothing is equal.
bool is_infinity(Value x) { return x != Value(0) && x * Value(0.5) == x; }
#else
bool is_infinity(Value x) { return false; }
#endif

bool compute(Value x) {
    switch (OPERATION) {
    case OP_ISNAN: return value_is_nan(x);
    case OP_ISINF: return is_infinity(x);
    case OP_ISFINITE: return !value_is_nan(x) && !is_infinity(x);
    default: return value_equal(x, value_zero());
    }
}

void main() {
    Places places = find_places();
    uvec2 bits[ELEMENTS];
    load_operand(0, OPERAND_CODE, places, bits);
    uint code = code_of_operand(0, OPERAND_CODE);
    for (uint each = 0; each < ELEMENTS; each++)
        bits[each] = uvec2(compute(value_of_bits(bits[each], code)) ? 1u : 0u, 0u);
    store_result(places, bits);
}
