// As remainder_f32.glsl, bit by bit, on significands of 53 bits in two words.
#ifndef REMAINDER_F64_GLSL
#define REMAINDER_F64_GLSL

#include "integers64.glsl"

uvec2 shifted_left(uvec2 x, int bits) {
    if (bits >= 32) return uvec2(0u, x.x << (bits - 32));
    return bits == 0 ? x : uvec2(x.x << bits, (x.y << bits) | (x.x >> (32 - bits)));
}

uvec2 significand_of(uvec2 magnitude) {
    return magnitude.y >= 0x100000u ? uvec2(magnitude.x, (magnitude.y & 0xFFFFFu) | 0x100000u)
                                    : magnitude;
}

double truncated_remainder(double x, double y) {
    uvec2 left = unpackDouble2x32(x), right = unpackDouble2x32(y);
    uint sign = left.y & 0x80000000u;
    left.y &= 0x7FFFFFFFu;
    right.y &= 0x7FFFFFFFu;
    bool is_nan = right == uvec2(0u) || left.y >= 0x7FF00000u ||
                  ulong_less(uvec2(0u, 0x7FF00000u), right);
    if (is_nan) return packDouble2x32(uvec2(0u, 0x7FF80000u));
    if (ulong_less(left, right)) return x;
    int exponent = int(max(right.y >> 20, 1u));
    int steps = int(max(left.y >> 20, 1u)) - exponent;
    uvec2 divisor = significand_of(right), whole, rest;
    ulong_divide(significand_of(left), divisor, whole, rest);
    for (; steps > 0 && rest != uvec2(0u); steps--) {
        rest = long_shift_left(rest);
        if (!ulong_less(rest, divisor)) rest = long_subtract(rest, divisor);
    }
    if (rest == uvec2(0u)) return packDouble2x32(uvec2(0u, sign));
    int highest = rest.y != 0u ? 32 + findMSB(rest.y) : findMSB(rest.x);
    int field = exponent + highest - 52;
    uvec2 magnitude;
    if (field >= 1) {
        magnitude = shifted_left(rest, 52 - highest);
        magnitude.y = (magnitude.y & 0xFFFFFu) | (uint(field) << 20);
    } else {
        magnitude = shifted_left(rest, exponent - 1);
    }
    return packDouble2x32(uvec2(magnitude.x, magnitude.y | sign));
}

#endif
