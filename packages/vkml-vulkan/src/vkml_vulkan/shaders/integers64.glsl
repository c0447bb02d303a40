// 64-bit integers as two words, low word first. No device has to have them, and most GPUs compute
// them this way anyway. Signed and unsigned share what two's complement shares.
#ifndef INTEGERS64_GLSL
#define INTEGERS64_GLSL

uvec2 long_of(int x) { return uvec2(uint(x), x < 0 ? 0xFFFFFFFFu : 0u); }

bool long_is_negative(uvec2 x) { return (x.y & 0x80000000u) != 0u; }

uvec2 long_add(uvec2 x, uvec2 y) {
    uint carry;
    uint low = uaddCarry(x.x, y.x, carry);
    return uvec2(low, x.y + y.y + carry);
}

uvec2 long_negate(uvec2 x) { return long_add(~x, uvec2(1u, 0u)); }

uvec2 long_subtract(uvec2 x, uvec2 y) { return long_add(x, long_negate(y)); }

uvec2 long_multiply(uvec2 x, uvec2 y) {
    uint high, low;
    umulExtended(x.x, y.x, high, low);
    return uvec2(low, high + x.x * y.y + x.y * y.x);
}

bool ulong_less(uvec2 x, uvec2 y) { return x.y < y.y || (x.y == y.y && x.x < y.x); }

bool long_less(uvec2 x, uvec2 y) {
    return int(x.y) < int(y.y) || (x.y == y.y && x.x < y.x);
}

uvec2 long_shift_left(uvec2 x) { return uvec2(x.x << 1, (x.y << 1) | (x.x >> 31)); }

// Long division, bit by bit. A division by zero gives all ones, as many GPUs do.
void ulong_divide(uvec2 x, uvec2 y, out uvec2 quotient, out uvec2 rest) {
    quotient = uvec2(0u);
    rest = uvec2(0u);
    for (int bit = 63; bit >= 0; bit--) {
        bool overflows = (rest.y & 0x80000000u) != 0u;
        uint next = bit >= 32 ? (x.y >> (bit - 32)) & 1u : (x.x >> bit) & 1u;
        rest = long_shift_left(rest);
        rest.x |= next;
        if (overflows || !ulong_less(rest, y)) {
            rest = long_subtract(rest, y);
            if (bit >= 32) quotient.y |= 1u << (bit - 32);
            else quotient.x |= 1u << bit;
        }
    }
}

uvec2 long_magnitude(uvec2 x) { return long_is_negative(x) ? long_negate(x) : x; }

// Rounded down, as Python does; the remainder has the sign of the divisor.
void long_floor_divide(uvec2 x, uvec2 y, out uvec2 quotient, out uvec2 rest) {
    ulong_divide(long_magnitude(x), long_magnitude(y), quotient, rest);
    bool opposite = long_is_negative(x) != long_is_negative(y);
    if (long_is_negative(x)) rest = long_negate(rest);
    if (opposite) quotient = long_negate(quotient);
    if (opposite && rest != uvec2(0u)) {
        quotient = long_subtract(quotient, uvec2(1u, 0u));
        rest = long_add(rest, y);
    }
}

// To the nearest float, ties to even.
float float_of_ulong(uvec2 x) {
    if (x.y == 0u) return float(x.x);
    // The upper 32 significant bits; what falls off below only breaks ties, by one sticky bit.
    int shift = findMSB(x.y) + 1;
    uint upper = shift == 32 ? x.y : (x.y << (32 - shift)) | (x.x >> shift);
    uint dropped = shift == 32 ? x.x : x.x & ((1u << shift) - 1u);
    // 24 bits stay of 32; round here, since a conversion may round differently.
    uint kept = upper >> 8;
    uint rest = (upper & 0xFFu) << 1 | (dropped != 0u ? 1u : 0u);
    if (rest > 0x100u || (rest == 0x100u && (kept & 1u) != 0u)) kept += 1u;
    return ldexp(float(kept), shift + 8);
}

float float_of_long(uvec2 x) {
    float magnitude = float_of_ulong(long_magnitude(x));
    return long_is_negative(x) ? -magnitude : magnitude;
}

// Toward zero. What does not fit becomes the most negative number, as on x86.
uvec2 ulong_of_float(float x) {
    float whole = abs(trunc(x));
    if (!(whole < 18446744073709551616.0)) return uvec2(0u, 0x80000000u);
    float upper = floor(whole * 2.3283064365386963e-10);
    uvec2 magnitude = uvec2(uint(whole - upper * 4294967296.0), uint(upper));
    return x < 0.0 ? long_negate(magnitude) : magnitude;
}

uvec2 long_of_float(float x) {
    if (!(abs(x) < 9223372036854775808.0)) return uvec2(0u, 0x80000000u);
    return ulong_of_float(x);
}

#endif
