#ifndef ANGLE_F64_GLSL
#define ANGLE_F64_GLSL

#include "numbers_f64.glsl"
#include "two_doubles.glsl"

// The bits of 2 / pi behind the point, after two words of zeros.
const uint TWO_BY_PI_F64[39] = uint[](
    0x00000000u, 0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u,
    0x3c439041u, 0xfe5163abu, 0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu,
    0xfe1deb1cu, 0xb129a73eu, 0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u, 0x3991d639u,
    0x835339f4u, 0x9c845f8bu, 0xbdf9283bu, 0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu,
    0x6d367ecfu, 0x27cb09b7u, 0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u,
    0x8a5292eau, 0x6bfb5fb1u, 0x1f8d5d08u, 0x56033046u);

// An angle: whole quarter turns, and the rest in [-pi/4, pi/4] as a sum of two doubles.
struct AngleF64 {
    uint quarters;
    dvec2 rest;
};

// For 0 <= x < 2^20 (Cody and Waite): the first three parts of pi / 2 have 33 bits, so that their
// multiples up to 2^20 are exact.
AngleF64 reduce_small_angle(double x) {
    double n = floor(x * 0.6366197723675814lf + 0.5lf);
    precise double first = x - n * 1.5707963267341256lf;
    precise double second = first - n * 6.077100506303966e-11lf;
    precise double third = second - n * 2.0222662487111665e-21lf;
    precise double lost = (first - second) - n * 6.077100506303966e-11lf;
    lost += (second - third) - n * 2.0222662487111665e-21lf;
    precise double low = lost - n * 8.4784276603689e-32lf;
    return AngleF64(uint(n), fast_two_sum(third, low));
}

// 32 bits of 2 / pi from this bit of TWO_BY_PI_F64 on.
uint two_by_pi_f64_from(int bit) {
    int word = bit >> 5;
    int shift = bit & 31;
    uint high = TWO_BY_PI_F64[word] << shift;
    return shift == 0 ? high : high | TWO_BY_PI_F64[word + 1] >> (32 - shift);
}

// The three words of sum + a * b, the least significant first.
uvec3 add_product(uvec3 sum, uint a, uint b) {
    uint high, low, carry;
    umulExtended(a, b, high, low);
    sum.x = uaddCarry(sum.x, low, carry);
    high += carry;  // at most 2^32 - 2 before
    sum.y = uaddCarry(sum.y, high, carry);
    sum.z += carry;
    return sum;
}

// For finite x >= 2^19 (Payne and Hanek 1983). x = mantissa * 2^scale; of the product with 2 / pi
// only the bits matter that are not whole turns, so 192 bits of 2 / pi from weight 2^1 on
// are enough.
AngleF64 reduce_large_angle(double x) {
    uvec2 bits = unpackDouble2x32(x);
    uvec2 mantissa = uvec2(bits.x, (bits.y & 0x000fffffu) | 0x00100000u);
    int first_bit = int(bits.y >> 20) - 1075 + 62;

    // mantissa * 192 bits, modulo 2^192, the most significant word first.
    uint product[6];
    uvec3 sum = uvec3(0u);
    uint lower_digit = 0u;
    for (int place = 5; place >= 0; --place) {
        uint digit = two_by_pi_f64_from(first_bit + 32 * place);
        sum = add_product(sum, mantissa.x, digit);
        sum = add_product(sum, mantissa.y, lower_digit);
        lower_digit = digit;
        product[place] = sum.x;
        sum = uvec3(sum.yz, 0u);
    }

    // Two bits of quarter turns, then 190 bits of a fraction of a quarter turn.
    uint quarters = product[0] >> 30;
    uint sign = 0u;
    if ((product[0] & 0x20000000u) != 0u) {
        quarters += 1u;
        sign = SIGN_BIT;
        for (int place = 0; place < 6; ++place) product[place] = ~product[place];
    }
    product[0] &= 0x1fffffffu;

    // No double is closer to a multiple of pi / 2 than 2^-62: a word of the first three is not 0.
    int first = product[0] != 0u ? 0 : product[1] != 0u ? 1 : 2;
    int shift = 31 - findMSB(product[first] | 1u);
    uvec3 top = uvec3(product[first], product[first + 1], product[first + 2]) << shift;
    uvec3 below = uvec3(product[first + 1], product[first + 2], product[first + 3]);
    if (shift > 0) top |= below >> (32 - shift);
    precise double high = double(top.x) * 4294967296.0lf + double(top.y & 0xfffff800u);
    precise double low = double(top.y & 0x7ffu) + double(top.z) * 2.3283064365386963e-10lf;
    double unit = power_of_two_f64(2 - 64 - 32 * first - shift);
    dvec2 half_pi = dvec2(1.5707963267948966lf, 6.123233995736766e-17lf);
    dvec2 rest = multiply_pairs(dvec2(high * unit, low * unit), half_pi);
    return AngleF64(quarters, dvec2(flip_sign(rest.x, sign), flip_sign(rest.y, sign)));
}

AngleF64 reduce_angle(double x) {
    if (x < 1048576.0lf) return reduce_small_angle(x);
    return reduce_large_angle(x);
}

#endif
