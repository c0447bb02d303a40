// The argument block: 32-bit words, pushed, or in memory where there are more than can be pushed.
// Specialisation constant 0 is the size of a workgroup, 1 tells where the block is.
#ifndef ARGUMENTS_GLSL
#define ARGUMENTS_GLSL

#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require

layout(local_size_x_id = 0, local_size_y = 1, local_size_z = 1) in;
layout(constant_id = 1) const bool IN_RING = false;

const uint WORKGROUP = gl_WorkGroupSize.x;

layout(push_constant, scalar) uniform Pushed { uint words[32]; } pushed;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer Quads { uvec4 at[]; };

uint argument(uint place) {
    if (IN_RING) return Words(uvec2(pushed.words[0], pushed.words[1])).at[place];
    return pushed.words[place];
}

uvec2 address_argument(uint place) { return uvec2(argument(place), argument(place + 1)); }

float float_argument(uint place) { return uintBitsToFloat(argument(place)); }

// Workgroups lie in a grid, because one axis holds only 65,535 of them.
uint workgroup_index() { return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x; }

uint invocation_index() { return workgroup_index() * WORKGROUP + gl_LocalInvocationIndex; }

// x / size, by the multiplier and shift that the host worked out; for x below 2^31.
uint quotient(uint x, uint multiplier, uint shift) {
    uint high, low;
    umulExtended(x, multiplier, high, low);
    return (high + x) >> shift;
}

#endif
