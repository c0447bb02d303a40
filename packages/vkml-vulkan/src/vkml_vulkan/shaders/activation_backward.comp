// The backward halves of activations: the upstream gradient times the slope at the second operand,
// which is the input, for relu the output.
#version 460
#extension GL_GOOGLE_include_directive : require

#define OPERANDS 2
#define OPTIONS 4
#include "elementwise.glsl"
#include "activation.glsl"

Value silu_slope(Value x) {
    Value gate = own_sigmoid(x);
    return gate * (x * (Value(1) - gate) + Value(1));
}

Value gelu_slope(Value x) {
    Value density = own_exp(x * x * Value(-0.5)) * ONE_BY_ROOT_TWO_PI;
    return normal_cdf(x) + x * density;
}

Value gelu_tanh_slope(Value x) {
    Value tanh = gelu_tanh(x);
    Value inner = (x * x * (Value(3) * GELU_CUBIC) + Value(1)) * GELU_SCALE;
    return (tanh + Value(1) + x * ((Value(1) - tanh * tanh) * inner)) * Value(0.5);
}

Value compute(Value upstream, Value x, Value first, Value second) {
    switch (OPERATION) {
    case OP_LEAKY_RELU_BACKWARD: return x > Value(0) ? upstream : upstream * first;
    case OP_ELU_BACKWARD: return x > Value(0) ? upstream : upstream * (own_exp(x) * first);
    case OP_SILU_BACKWARD: return upstream * silu_slope(x);
    case OP_GELU_BACKWARD: return upstream * gelu_slope(x);
    case OP_GELU_TANH_BACKWARD: return upstream * gelu_tanh_slope(x);
    case OP_SOFTPLUS_BACKWARD:
        return x * first > second ? upstream : upstream * own_sigmoid(x * first);
    default: return x <= Value(0) && !value_is_nan(x) ? Value(0) : upstream;
    }
}

void main() {
    Places places = find_places();
    uvec2 upstream[ELEMENTS], bits[ELEMENTS];
    load_operand(0, OPERAND_CODE, places, upstream);
    load_operand(1, OPERAND_CODE, places, bits);
    Value first = number_argument(OPTIONS_PLACE);
    Value second = number_argument(OPTIONS_PLACE + 2);
    for (uint each = 0; each < ELEMENTS; each++) {
        Value g = value_of_bits(upstream[each], OPERAND_CODE);
        Value x = value_of_bits(bits[each], OPERAND_CODE);
        bits[each] = bits_of_value(compute(g, x, first, second), RESULT_CODE);
    }
    store_result(places, bits);
}
