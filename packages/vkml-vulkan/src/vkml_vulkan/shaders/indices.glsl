// Elements of index tensors, int64 or int32, as places along an axis.
#ifndef INDICES_GLSL
#define INDICES_GLSL

#include "values.glsl"

const uint OUTSIDE = 0xFFFFFFFFu;

// The place of an index along an axis of `size`, or OUTSIDE. Axes are shorter than 2^31, so the
// low word says all where the high one is 0, and negative numbers are too large.
uint place_of_index(uvec2 bits, uint code, uint size) {
    bool fits = bits.x < size && (code != STORED_PAIR || bits.y == 0u);
    return fits ? bits.x : OUTSIDE;
}

uint load_place(uvec2 address, int index, uint code, uint size) {
    return place_of_index(load_bits(address, index, code), code, size);
}

#endif
