// Sorted runs of pairs, merged two by two; of equal ones those of the left run come first. Each
// invocation writes CHUNK pairs. By a binary search it finds how many pairs of either run come
// before them.
//
// Arguments: the addresses of the merged pairs and of the runs; the binary logarithm of the length
// of a run, which is at least half of CHUNK; the number of pairs.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "arguments.glsl"

const uint CHUNK = 16;

void main() {
    uint target = invocation_index() * CHUNK;
    uint count = argument(5);
    if (target >= count) return;
    uint length = 1u << argument(4);
    uint left = target & ~(2u * length - 1u);
    uint right = min(left + length, count);
    uint left_size = right - left;
    uint right_size = min(right + length, count) - right;
    Words runs = Words(address_argument(2)), merged = Words(address_argument(0));
    uint before = target - left;
    uint low = before > right_size ? before - right_size : 0u;
    uint high = min(before, left_size);
    while (low < high) {
        uint middle = (low + high) >> 1;
        uint other = right + before - 1u - middle;
        if (runs.at[2 * (left + middle)] <= runs.at[2 * other]) low = middle + 1u;
        else high = middle;
    }
    uint i = low, j = before - low;
    uint end = min(target + CHUNK, left + left_size + right_size);
    for (; target < end; target++) {
        bool takes_left = j == right_size;
        if (!takes_left && i < left_size)
            takes_left = runs.at[2 * (left + i)] <= runs.at[2 * (right + j)];
        uint source = takes_left ? left + i++ : right + j++;
        merged.at[2 * target] = runs.at[2 * source];
        merged.at[2 * target + 1] = runs.at[2 * source + 1];
    }
}
