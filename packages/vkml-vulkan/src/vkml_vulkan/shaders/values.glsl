// Elements in memory and in registers. CLASS_F32, CLASS_I32, CLASS_U32, CLASS_I64, CLASS_U64 or
// CLASS_F64 chooses the type that a module computes in; a storage code says how elements lie in
// memory (`StorageCode` in formats.py). Narrow elements are read and written inside words.
#ifndef VALUES_GLSL
#define VALUES_GLSL

#include "arguments.glsl"
#include "half.glsl"

const uint STORED_BOOL = 0;
const uint STORED_UINT8 = 1;
const uint STORED_INT8 = 2;
const uint STORED_UINT16 = 3;
const uint STORED_INT16 = 4;
const uint STORED_FLOAT16 = 5;
const uint STORED_BFLOAT16 = 6;
const uint STORED_WORD = 7;
const uint STORED_PAIR = 8;

#if defined(CLASS_F32)
#define Value float
#elif defined(CLASS_I32)
#define Value int
#elif defined(CLASS_U32)
#define Value uint
#elif defined(CLASS_I64) || defined(CLASS_U64)
#define Value uvec2
#elif defined(CLASS_F64)
#define Value double
#endif

uint bits_of(uint code) {
    return code <= STORED_INT8 ? 8u : code <= STORED_BFLOAT16 ? 16u : code == STORED_WORD ? 32u : 64u;
}

// An address and an index of elements, as the word where the element begins and the shift in it.
// Narrow operands may begin inside a word, and strides may lead to words before the address.
void locate(uvec2 address, int index, uint code, out Words words, out int word, out uint shift) {
    uint bits = bits_of(code);
    words = Words(uvec2(address.x & ~3u, address.y));
    if (bits >= 32u) {
        word = bits == 64u ? 2 * index : index;
        shift = 0u;
        return;
    }
    int place = bits == 8u ? index + int(address.x & 3u) : index + int((address.x & 3u) >> 1);
    word = bits == 8u ? place >> 2 : place >> 1;
    shift = uint(bits == 8u ? place & 3 : place & 1) * bits;
}

uvec2 load_bits(uvec2 address, int index, uint code) {
    Words words;
    int word;
    uint shift;
    locate(address, index, code, words, word, shift);
    if (code == STORED_PAIR) return uvec2(words.at[word], words.at[word + 1]);
    return uvec2(words.at[word] >> shift, 0u);
}

// Narrow elements share their word with neighbours that other invocations write, hence atomics.
void store_bits(uvec2 address, int index, uvec2 bits, uint code) {
    Words words;
    int word;
    uint shift;
    locate(address, index, code, words, word, shift);
    if (code >= STORED_WORD) {
        words.at[word] = bits.x;
        if (code == STORED_PAIR) words.at[word + 1] = bits.y;
        return;
    }
    uint mask = bits_of(code) == 8u ? 0xFFu : 0xFFFFu;
    atomicAnd(words.at[word], ~(mask << shift));
    atomicOr(words.at[word], (bits.x & mask) << shift);
}

#ifdef Value

Value value_of_bits(uvec2 bits, uint code) {
#if defined(CLASS_F32)
    if (code == STORED_FLOAT16) return float_of_half(bits.x & 0xFFFFu);
    if (code == STORED_BFLOAT16) return uintBitsToFloat(bits.x << 16);
    return uintBitsToFloat(bits.x);
#elif defined(CLASS_I32)
    if (code == STORED_INT8) return bitfieldExtract(int(bits.x), 0, 8);
    if (code == STORED_INT16) return bitfieldExtract(int(bits.x), 0, 16);
    return int(bits.x);
#elif defined(CLASS_U32)
    if (code == STORED_BOOL) return (bits.x & 0xFFu) != 0u ? 1u : 0u;
    if (code == STORED_UINT8) return bits.x & 0xFFu;
    if (code == STORED_UINT16) return bits.x & 0xFFFFu;
    return bits.x;
#elif defined(CLASS_F64)
    return packDouble2x32(bits);
#else
    return bits;
#endif
}

uvec2 bits_of_value(Value value, uint code) {
#if defined(CLASS_F32)
    if (code == STORED_FLOAT16) return uvec2(half_of_float(value), 0u);
    if (code == STORED_BFLOAT16) return uvec2(bfloat_of_float(value), 0u);
    return uvec2(floatBitsToUint(value), 0u);
#elif defined(CLASS_I32)
    return uvec2(uint(value), 0u);
#elif defined(CLASS_U32)
    return uvec2(code == STORED_BOOL ? uint(value != 0u) : value, 0u);
#elif defined(CLASS_F64)
    return unpackDouble2x32(value);
#else
    return value;
#endif
}

Value load(uvec2 address, int index, uint code) {
    return value_of_bits(load_bits(address, index, code), code);
}

void store(uvec2 address, int index, Value value, uint code) {
    store_bits(address, index, bits_of_value(value, code), code);
}

// A number among the arguments, in two words.
Value number_argument(uint place) {
#if defined(CLASS_I64) || defined(CLASS_U64) || defined(CLASS_F64)
    return value_of_bits(address_argument(place), STORED_PAIR);
#else
    return value_of_bits(uvec2(argument(place), 0u), STORED_WORD);
#endif
}

#endif
#endif
