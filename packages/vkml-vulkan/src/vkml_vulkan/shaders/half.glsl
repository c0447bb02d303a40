// float16 and bfloat16 as bits. Rounding is to the nearest, ties to even, which packHalf2x16 does
// not promise.
#ifndef HALF_GLSL
#define HALF_GLSL

float float_of_half(uint bits) { return unpackHalf2x16(bits).x; }

uint half_of_float(float x) {
    uint bits = floatBitsToUint(x);
    uint sign = (bits >> 16) & 0x8000u;
    uint magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) return sign | 0x7E00u;
    // Beyond 65519.99 the nearest is infinity.
    if (magnitude >= 0x477FF000u) return sign | 0x7C00u;
    if (magnitude >= 0x38800000u) {
        // Normal: 13 bits of the significand fall off; a carry runs into the exponent rightly.
        uint rounded = magnitude + 0xFFFu + ((magnitude >> 13) & 1u);
        return sign | ((rounded >> 13) - 0x1C000u);
    }
    // Subnormal: a whole number of 2^-24.
    uint exponent = magnitude >> 23;
    if (exponent < 102u) return sign;
    uint significand = (magnitude & 0x7FFFFFu) | 0x800000u;
    uint shift = 126u - exponent;
    uint whole = significand >> shift;
    uint rest = significand & ((1u << shift) - 1u);
    uint half_way = 1u << (shift - 1u);
    if (rest > half_way || (rest == half_way && (whole & 1u) != 0u)) whole += 1u;
    return sign | whole;
}

uint bfloat_of_float(float x) {
    uint bits = floatBitsToUint(x);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return (bits >> 16) | 0x40u;
    return (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
}

#endif
