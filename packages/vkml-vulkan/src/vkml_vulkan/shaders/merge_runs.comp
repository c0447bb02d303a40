// Sorted runs of pairs, merged two by two. Each pair finds its place by a binary search in the
// other run; of equal ones those of the left run come first.
//
// Arguments: the addresses of the merged pairs and of the runs; the binary logarithm of the length
// of a run; the number of pairs.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "arguments.glsl"

void main() {
    uint number = invocation_index();
    uint count = argument(5);
    if (number >= count) return;
    uint logarithm = argument(4);
    uint run = number >> logarithm;
    bool is_left = (run & 1u) == 0u;
    Words runs = Words(address_argument(2));
    uint place = runs.at[2 * number];
    // The other run, and how many of its pairs come before this one.
    uint begin = min((run ^ 1u) << logarithm, count);
    uint low = begin;
    uint high = min(begin + (1u << logarithm), count);
    while (low < high) {
        uint middle = (low + high) >> 1;
        uint other = runs.at[2 * middle];
        if (is_left ? other < place : other <= place) low = middle + 1;
        else high = middle;
    }
    uint target = number + low - begin - (is_left ? 0u : 1u << logarithm);
    Words merged = Words(address_argument(0));
    merged.at[2 * target] = place;
    merged.at[2 * target + 1] = runs.at[2 * number + 1];
}
