// Gradients of the weight and the bias of a normalization of dense rows: sums over all rows. Each
// invocation adds up one column of some rows; what those chunks of rows give is added up by
// `parameter_totals.comp`.
//
// Arguments: the addresses of the partial sums (those of the weight of every chunk, then those of
// the bias), the upstream gradient, the input, mean, 1 / deviation; the count of rows, their length,
// rows of a chunk, workgroups along a row.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "sums.glsl"

layout(constant_id = 2) const uint CODE = STORED_WORD;
layout(constant_id = 3) const bool CENTRES = false;

void main() {
    uint count = argument(10);
    uint length = argument(11);
    uint chunk_rows = argument(12);
    uint groups = argument(13);
    uint chunk = workgroup_index() / groups;
    uint column = (workgroup_index() - chunk * groups) * WORKGROUP + gl_LocalInvocationIndex;
    if (column >= length || chunk * chunk_rows >= count) return;
    uvec2 upstream = address_argument(2);
    uvec2 input_address = address_argument(4);
    Sum to_weight = no_sum(), to_bias = no_sum();
    uint end = min(count, (chunk + 1u) * chunk_rows);
    for (uint row = chunk * chunk_rows; row < end; row++) {
        int offset = int(row * length + column);
        Value g = load(upstream, offset, CODE);
        Value x = load(input_address, offset, CODE);
        if (CENTRES) x -= load(address_argument(6), int(row), STATISTICS_CODE);
        add(to_weight, g * (x * load(address_argument(8), int(row), STATISTICS_CODE)));
        add(to_bias, g);
    }
    uint chunks = (count + chunk_rows - 1u) / chunk_rows;
    int place = int(chunk * length + column);
    store(address_argument(0), place, value_of(to_weight), STATISTICS_CODE);
    store(address_argument(0), place + int(chunks * length), value_of(to_bias), STATISTICS_CODE);
}
