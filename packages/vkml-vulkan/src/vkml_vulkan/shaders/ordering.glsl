// Numbers as unsigned integers of the same order, by their bits. The largest is then the largest
// integer, on every driver also among denormals, and NaN is larger than all.
#ifndef ORDERING_GLSL
#define ORDERING_GLSL

#include "numbers.glsl"

const uint NAN_KEY = 0xFFFFFFFFu;

// 0 of a positive sign is above that of a negative one.
uint order_key(float x) {
    uint bits = floatBitsToUint(x);
    return is_nan(x) ? NAN_KEY : (bits & SIGN_BIT) != 0u ? ~bits : bits | SIGN_BIT;
}

float float_of_key(uint key) {
    return uintBitsToFloat((key & SIGN_BIT) != 0u ? key ^ SIGN_BIT : ~key);
}

// For the smallest: the order turned round, with NaN still above all.
uint reverse_order_key(float x) { return is_nan(x) ? NAN_KEY : ~order_key(x); }

float float_of_reverse_key(uint key) { return key == NAN_KEY ? NAN_F32 : float_of_key(~key); }

uint order_key(int x) { return uint(x) ^ SIGN_BIT; }

int int_of_key(uint key) { return int(key ^ SIGN_BIT); }

#endif
