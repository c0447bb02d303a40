#ifndef TRIGONOMETRIC_F32_GLSL
#define TRIGONOMETRIC_F32_GLSL

#include "numbers.glsl"

// The bits of 2 / pi behind the point, after one word of zeros.
const uint TWO_BY_PI[8] = uint[](
    0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
    0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu);

// An angle: whole quarter turns, and the rest in [-pi/4, pi/4] as a sum of two floats.
struct Angle {
    uint quarters;
    float rest;
    float rest_low;
};

// For 0 <= x < 804 (Cody and Waite): the first three parts of pi / 2 have 15 bits, so that their
// multiples up to 2^9 are exact.
Angle reduce_small_angle(float x) {
    float n = floor(x * 0.636619772 + 0.5);
    precise float first = x - n * 1.5707397;
    precise float second = first - n * 5.657971e-05;
    precise float third = second - n * 9.920882e-10;
    precise float lost = (first - second) - n * 5.657971e-05;
    lost += (second - third) - n * 9.920882e-10;
    precise float low = lost - n * 5.390303e-15;
    precise float rest = third + low;
    precise float rest_low = (third - rest) + low;
    return Angle(uint(n), rest, rest_low);
}

// 32 bits of 2 / pi from this bit of TWO_BY_PI on.
uint two_by_pi_from(int bit) {
    int word = bit >> 5;
    int shift = bit & 31;
    uint high = TWO_BY_PI[word] << shift;
    return shift == 0 ? high : high | TWO_BY_PI[word + 1] >> (32 - shift);
}

// For finite x >= 2^9 (Payne and Hanek 1983). x = mantissa * 2^scale; of the product with 2 / pi
// only the bits matter that are not whole turns, so 96 bits of 2 / pi from weight 2^1 on
// are enough.
// No float is closer to a multiple of pi / 2 than 2^-30.
Angle reduce_large_angle(float x) {
    uint bits = floatBitsToUint(x);
    uint mantissa = (bits & 0x007fffffu) | 0x00800000u;
    int first_bit = int(bits >> 23) - 150 + 30;
    uint high, low, unused, carry;
    umulExtended(mantissa, two_by_pi_from(first_bit + 64), low, unused);
    uint middle_high, middle_low;
    umulExtended(mantissa, two_by_pi_from(first_bit + 32), middle_high, middle_low);
    low = uaddCarry(low, middle_low, carry);
    high = mantissa * two_by_pi_from(first_bit) + middle_high + carry;

    // high: two bits of quarter turns, then, with low, 62 bits of a fraction of a quarter turn.
    uint quarters = high >> 30;
    uint fraction = high << 2 | low >> 30;
    uint fraction_low = low << 2;
    uint sign = 0u;
    if (fraction >= 0x80000000u) {
        quarters += 1u;
        fraction = ~fraction;
        fraction_low = ~fraction_low;
        sign = SIGN_BIT;
    }
    int shift = 31 - findMSB(fraction | 1u);
    if (shift > 0) fraction = fraction << shift | fraction_low >> (32 - shift);
    uint angle, angle_low;
    const uint QUARTER_PI = 0xc90fdaa2u;  // pi / 4 * 2^32
    umulExtended(fraction, QUARTER_PI, angle, angle_low);
    float unit = power_of_two(-31 - shift);
    float rest = flip_sign(float(angle & 0xffffff00u) * unit, sign);
    float rest_low = flip_sign(float(angle & 0xffu) * unit, sign);
    return Angle(quarters, rest, rest_low);
}

Angle reduce_angle(float x) {
    if (x < 804.0) return reduce_small_angle(x);
    return reduce_large_angle(x);
}

// Minimax fit of the relative error: below 2^-27.8.
float sin_rest(Angle a) {
    float z = a.rest * a.rest;
    float q = -0.00019517897;
    q = q * z + 0.008332187;
    q = q * z - 0.16666655;
    return a.rest + (a.rest * z * q + a.rest_low);
}

// Minimax fit of the relative error: below 2^-32.9.
float cos_rest(Angle a) {
    float z = a.rest * a.rest;
    float q = 2.4432327e-5;
    q = q * z - 0.001388731;
    q = q * z + 0.041666646;
    return 1.0 - (0.5 * z - (z * z * q - a.rest * a.rest_low));
}

float sin_of_angle(Angle a) {
    float y = (a.quarters & 1u) == 0u ? sin_rest(a) : cos_rest(a);
    return flip_sign(y, (a.quarters & 2u) << 30);
}

float own_sin(float x) {
    if (!is_finite(x)) return is_nan(x) ? x : NAN_F32;
    return flip_sign(sin_of_angle(reduce_angle(abs(x))), sign_bit(x));
}

float own_cos(float x) {
    if (!is_finite(x)) return is_nan(x) ? x : NAN_F32;
    Angle a = reduce_angle(abs(x));
    a.quarters += 1u;
    return sin_of_angle(a);
}

float own_tan(float x) {
    if (!is_finite(x)) return is_nan(x) ? x : NAN_F32;
    Angle a = reduce_angle(abs(x));
    float s = sin_rest(a);
    float c = cos_rest(a);
    float y = (a.quarters & 1u) == 0u ? s / c : -c / s;
    return flip_sign(y, sign_bit(x));
}

#endif
