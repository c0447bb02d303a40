// Philox4x32-10: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3"
// (SC 2011). Random words that depend on the seed (the key) and on the counter (index of an
// element, offset) alone, the same ones as on every other device.
#ifndef PHILOX_GLSL
#define PHILOX_GLSL

#include "arguments.glsl"

const uint PHILOX_ROUNDS = 10;
const uvec2 PHILOX_MULTIPLIERS = uvec2(0xD2511F53u, 0xCD9E8D57u);
const uvec2 PHILOX_WEYL = uvec2(0x9E3779B9u, 0xBB67AE85u);

// One draw from a generator; seed and offset have 64 bits each, low word first.
struct Draw {
    uvec2 seed;
    uvec2 offset;
};

Draw draw_argument(uint place) {
    return Draw(address_argument(place), address_argument(place + 2));
}

// Words 0 and 1 of the four.
uvec2 philox(Draw draw, uint index) {
    uvec4 words = uvec4(index, 0u, draw.offset);
    uvec2 key = draw.seed;
    for (uint number = 0; number < PHILOX_ROUNDS; number++) {
        uvec2 high, low;
        umulExtended(words.xz, PHILOX_MULTIPLIERS, high, low);
        words = uvec4(high.y ^ words.y ^ key.x, low.y, high.x ^ words.w ^ key.y, low.x);
        key += PHILOX_WEYL;
    }
    return words.xy;
}

#endif
