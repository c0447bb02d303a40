// Questions about two operands, elementwise; the result is bool.
#version 460
#extension GL_GOOGLE_include_directive : require

#define OPERANDS 2
#include "elementwise.glsl"
#include "arithmetic.glsl"
#include "operation_codes.glsl"

bool compute(Value x, Value y) {
    bool unordered = value_is_nan(x) || value_is_nan(y);
    bool left = !value_equal(x, value_zero());
    bool right = !value_equal(y, value_zero());
    switch (OPERATION) {
    case OP_NE: return unordered || !value_equal(x, y);
    case OP_LT: return !unordered && value_less(x, y);
    case OP_LE: return !unordered && !value_less(y, x);
    case OP_GT: return !unordered && value_less(y, x);
    case OP_GE: return !unordered && !value_less(x, y);
    case OP_LOGICAL_AND: return left && right;
    case OP_LOGICAL_OR: return left || right;
    case OP_LOGICAL_XOR: return left != right;
    default: return !unordered && value_equal(x, y);
    }
}

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
        left[each] = uvec2(compute(x, y) ? 1u : 0u, 0u);
    }
    store_result(places, left);
}
