"""What a SPIR-V module says of itself, read from its words.

Section 2.3 of the SPIR-V specification has the layout of a module, section 3 the numbers below.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

MAGIC = 0x07230203
HEADER_WORDS = 5
PHYSICAL_STORAGE_BUFFER = 5349  # storage class of what buffer addresses point to
PUSH_CONSTANT = 9  # storage class
ARRAY_STRIDE, MATRIX_STRIDE, OFFSET = 6, 7, 35  # decorations
BYTES_OF_AN_ADDRESS = 8

CAPABILITIES = {
    0: "Matrix",
    1: "Shader",
    9: "Float16",
    10: "Float64",
    11: "Int64",
    12: "Int64Atomics",
    22: "Int16",
    39: "Int8",
    61: "GroupNonUniform",
    62: "GroupNonUniformVote",
    63: "GroupNonUniformArithmetic",
    64: "GroupNonUniformBallot",
    65: "GroupNonUniformShuffle",
    66: "GroupNonUniformShuffleRelative",
    67: "GroupNonUniformClustered",
    68: "GroupNonUniformQuad",
    4433: "StorageBuffer16BitAccess",
    4448: "StorageBuffer8BitAccess",
    5345: "VulkanMemoryModel",
    5347: "PhysicalStorageBufferAddresses",
    6033: "AtomicFloat32AddEXT",
}


@dataclass
class Facts:
    """What the declarations of a module say, by the numbers of its results."""

    capabilities: set[str] = field(default_factory=set)
    types: dict[int, tuple[int, ...]] = field(default_factory=dict)  # opcode and operands
    constants: dict[int, int] = field(default_factory=dict)
    decorations: dict[tuple[int, int], int] = field(default_factory=dict)  # target, decoration
    members: dict[tuple[int, int, int], int] = field(default_factory=dict)  # and the member's index
    push_constants: int | None = None  # the pointer type of the block


def read_facts(module: bytes) -> Facts:
    """Return what the declarations of `module` say."""
    words = struct.unpack(f"<{len(module) // 4}I", module)
    assert words[0] == MAGIC, f"starts with {words[0]:#x}, which is not SPIR-V"
    facts = Facts()
    at = HEADER_WORDS
    while at < len(words):
        length, opcode = words[at] >> 16, words[at] & 0xFFFF
        assert length, f"word {at} is an instruction without a length"
        _note(facts, opcode, words[at + 1 : at + length])
        at += length
    return facts


def _note(facts: Facts, opcode: int, operands: tuple[int, ...]) -> None:
    match opcode:
        case 17:  # OpCapability
            facts.capabilities.add(CAPABILITIES.get(operands[0], f"capability {operands[0]}"))
        case 21 | 22 | 23 | 24 | 28 | 29 | 30 | 32:  # OpTypeInt ... OpTypeStruct, OpTypePointer
            facts.types[operands[0]] = (opcode, *operands[1:])
        case 43 | 50:  # OpConstant, OpSpecConstant
            facts.constants[operands[1]] = operands[2]
        case 71 if len(operands) > 2:  # OpDecorate
            facts.decorations[operands[0], operands[1]] = operands[2]
        case 72 if len(operands) > 3:  # OpMemberDecorate
            facts.members[operands[0], operands[1], operands[2]] = operands[3]
        case 59 if operands[2] == PUSH_CONSTANT:  # OpVariable
            facts.push_constants = operands[0]


def push_constant_bytes(facts: Facts) -> int:
    """Return where the push constant block ends, 0 if there is none."""
    if facts.push_constants is None:
        return 0
    _, _, block = facts.types[facts.push_constants]
    return _size(facts, block)


def _size(facts: Facts, number: int, matrix_stride: int = 0) -> int:
    """Return the bytes that a type takes with its decorations."""
    opcode, *operands = facts.types[number]
    match opcode:
        case 21 | 22:  # OpTypeInt, OpTypeFloat: the width in bits comes first
            return operands[0] // 8
        case 23:  # OpTypeVector
            return operands[1] * _size(facts, operands[0])
        case 24:  # OpTypeMatrix
            return operands[1] * matrix_stride
        case 28:  # OpTypeArray
            return facts.constants[operands[1]] * facts.decorations[number, ARRAY_STRIDE]
        case 30:  # OpTypeStruct
            ends = [
                facts.members[number, index, OFFSET]
                + _size(facts, member, facts.members.get((number, index, MATRIX_STRIDE), 0))
                for index, member in enumerate(operands)
            ]
            return max(ends, default=0)
        case 32 if operands[0] == PHYSICAL_STORAGE_BUFFER:  # OpTypePointer
            return BYTES_OF_AN_ADDRESS
    raise AssertionError(f"a type of opcode {opcode} has no place in a push constant block")
