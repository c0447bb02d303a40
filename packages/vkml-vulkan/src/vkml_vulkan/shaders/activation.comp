// Activations, elementwise, with up to two numbers as options. NaN stays NaN.
#version 460
#extension GL_GOOGLE_include_directive : require

#define OPERANDS 1
#define OPTIONS 4
#include "elementwise.glsl"
#include "activation.glsl"

// log(1 + e^z), from e^-|z| so that nothing overflows.
Value soft_positive(Value z) {
    if (value_is_nan(z)) return z;
    return positive_part(z) + own_log1p(own_exp(-abs(z)));
}

Value compute(Value x, Value first, Value second) {
    switch (OPERATION) {
    case OP_LEAKY_RELU: return x > Value(0) ? x : x * first;
    case OP_ELU: return x > Value(0) ? x : own_expm1(x) * first;
    case OP_SILU: return x * own_sigmoid(x);
    case OP_GELU: return x * normal_cdf(x);
    case OP_GELU_TANH: return x * ((gelu_tanh(x) + Value(1)) * Value(0.5));
    case OP_SOFTPLUS: return x * first > second ? x : soft_positive(x * first) / first;
    default: return positive_part(x);
    }
}

void main() {
    Places places = find_places();
    uvec2 bits[ELEMENTS];
    load_operand(0, OPERAND_CODE, places, bits);
    Value first = number_argument(OPTIONS_PLACE);
    Value second = number_argument(OPTIONS_PLACE + 2);
    for (uint each = 0; each < ELEMENTS; each++) {
        Value x = value_of_bits(bits[each], OPERAND_CODE);
        bits[each] = bits_of_value(compute(x, first, second), RESULT_CODE);
    }
    store_result(places, bits);
}
