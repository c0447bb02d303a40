// The targets of cross entropy: one class number for each row of logits. A number that is no class
// counts as ignored, since a shader cannot raise an error.
//
// Before the include: FIRST_ADDRESS, where among the numbers the addresses of targets and of the
// weights of classes follow one another; the number before them is the class to ignore.
#ifndef CROSS_ENTROPY_GLSL
#define CROSS_ENTROPY_GLSL

// int32 or int64.
layout(constant_id = 8) const uint TARGET_CODE = STORED_PAIR;

// Flags in OPERATION.
const uint WEIGHTED = 1;
const uint SMOOTHED = 2;
const uint BY_ROW = 4;  // the result is not reduced
const uint MEAN = 8;
const uint LOSSES = 16;

bool has(uint flag) { return (OPERATION & flag) != 0u; }

const uint NO_CLASS = 0xFFFFFFFFu;

uint target_of(uint row, uint classes) {
    uvec2 bits = load_bits(address_number(FIRST_ADDRESS), int(row), TARGET_CODE);
    bool is_small = TARGET_CODE != STORED_PAIR || bits.y == 0u;
    bool is_ignored = bits.x == address_number(FIRST_ADDRESS - 1u).x;
    return is_small && !is_ignored && bits.x < classes ? bits.x : NO_CLASS;
}

Value weight_of(uint class_number) {
    if (!has(WEIGHTED)) return Value(1);
    return load(address_number(FIRST_ADDRESS + 1u), int(class_number), CODE);
}

Value target_weight(uint class_number) {
    return class_number == NO_CLASS ? Value(0) : weight_of(class_number);
}

#endif
