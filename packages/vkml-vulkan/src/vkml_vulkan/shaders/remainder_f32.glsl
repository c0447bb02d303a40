// The remainder of a division rounded toward zero, exact for any quotient: long division of the
// significands, eight bits at a time. x - y * trunc(x / y) would lose all digits of large ones.
#ifndef REMAINDER_F32_GLSL
#define REMAINDER_F32_GLSL

#include "numbers.glsl"

uint significand_of(uint magnitude) {
    return magnitude >= 0x800000u ? (magnitude & 0x7FFFFFu) | 0x800000u : magnitude;
}

float truncated_remainder(float x, float y) {
    uint left = magnitude_bits(x), right = magnitude_bits(y);
    if (right == 0u || left >= 0x7F800000u || right > 0x7F800000u) return NAN_F32;
    if (left < right) return x;
    int exponent = int(max(right >> 23, 1u));
    int steps = int(max(left >> 23, 1u)) - exponent;
    uint divisor = significand_of(right);
    uint rest = significand_of(left) % divisor;
    while (steps > 0 && rest != 0u) {
        int bits = min(steps, 8);  // a rest below 2^24 stays below 2^32
        rest = (rest << bits) % divisor;
        steps -= bits;
    }
    if (rest == 0u) return uintBitsToFloat(sign_bit(x));
    int highest = findMSB(rest);
    int field = exponent + highest - 23;
    uint magnitude = field >= 1 ? (uint(field) << 23) | ((rest << (23 - highest)) & 0x7FFFFFu)
                                : rest << (exponent - 1);
    return uintBitsToFloat(magnitude | sign_bit(x));
}

#endif
