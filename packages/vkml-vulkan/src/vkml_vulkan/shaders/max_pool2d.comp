// The largest element of each window, and where in its plane it lies. The first of equal elements
// counts; NaN is larger than any number, and the last one counts. A window that holds nothing but
// padding has no place: -1.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "pooling.glsl"

layout(constant_id = 3) const bool WITH_POSITIONS = false;

// What a window that holds nothing but padding gives.
Value lowest() {
#if defined(CLASS_F32)
    return uintBitsToFloat(0xFF800000u);
#elif defined(CLASS_F64)
    return packDouble2x32(uvec2(0u, 0xFFF00000u));
#elif defined(CLASS_I32)
    return CODE == STORED_INT8 ? -0x80 : CODE == STORED_INT16 ? -0x8000 : int(0x80000000u);
#elif defined(CLASS_I64)
    return uvec2(0u, 0x80000000u);
#else
    return value_zero();
#endif
}

void main() {
    uint number = invocation_index();
    if (number >= argument(6)) return;
    Spot spot = find_spot(number);
    uvec2 operand = address_argument(2);
    ivec2 begin = spot.at * window_step() - padding();
    ivec2 size = plane_size(), taps = window_size(), step = dilation();
    Value largest = lowest();
    uvec2 position = uvec2(0xFFFFFFFFu);
    bool is_empty = true;
    for (int i = 0; i < taps.x; i++)
        for (int j = 0; j < taps.y; j++) {
            ivec2 at = begin + ivec2(i, j) * step;
            if (at.x < 0 || at.y < 0 || at.x >= size.x || at.y >= size.y) continue;
            Value value = load(operand, spot.offset + offset_in_plane(at), CODE);
            bool is_larger = !value_is_nan(largest) && value_less(largest, value);
            if (!is_empty && !is_larger && !value_is_nan(value)) continue;
            largest = value;
            position = uvec2(at.x * size.y + at.y, 0);
            is_empty = false;
        }
    store(address_argument(0), int(number), largest, CODE);
    if (WITH_POSITIONS)
        store_bits(address_argument(4), int(number), position, STORED_PAIR);
}
