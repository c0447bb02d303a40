// Adds up what `parameter_gradients.comp` found in chunks of rows: first for the weight, then for the
// bias. Arguments: the addresses of both gradients, and of the partial sums; the length of a row, the
// count of chunks.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "sums.glsl"

layout(constant_id = 2) const uint CODE = STORED_WORD;

void main() {
    uint length = argument(6);
    uint chunks = argument(7);
    uint index = invocation_index();
    if (index >= 2u * length) return;
    bool is_bias = index >= length;
    uint column = is_bias ? index - length : index;
    int place = int(column + (is_bias ? chunks * length : 0u));
    Sum sum = no_sum();
    for (uint chunk = 0; chunk < chunks; chunk++)
        add(sum, load(address_argument(4), place + int(chunk * length), STATISTICS_CODE));
    store(address_argument(is_bias ? 2 : 0), int(column), value_of(sum), CODE);
}
