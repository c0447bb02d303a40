"""The constants of the `.vkml` format: signatures, record layouts, limits, dtypes."""

from __future__ import annotations

import struct
from dataclasses import dataclass

FORMAT_NAME = "vkml-checkpoint"
VERSION = 1
VERSION_WITH_FEATURES = 2  # written only where one of FEATURES is used
HEADER_MEMBER = "vkml.json"
TENSOR_FOLDER = "tensors/"
ESCAPED_FOLDER = "escaped/"
STORAGE_FOLDER = "storages/"
TENSOR_SUFFIX = ".npy"

# What a reader of version 1 cannot read rightly: fields of vkml.json, listed in "requires".
FEATURES = ("dtypes", "views", "members")

# ZIP records -------------------------------------------------------------------------------
# Field order as in the ZIP specification (APPNOTE 4.3).

LOCAL_SIGNATURE = b"PK\x03\x04"
DIRECTORY_SIGNATURE = b"PK\x01\x02"
END_SIGNATURE = b"PK\x05\x06"
ZIP64_END_SIGNATURE = b"PK\x06\x06"
ZIP64_LOCATOR_SIGNATURE = b"PK\x06\x07"

# signature, version needed, flags, method, time, date, crc, stored size, size, name, extra
LOCAL_HEADER = struct.Struct("<4s5H3I2H")
# signature, made by, then as above, comment, disk, internal and external attributes, offset
DIRECTORY_RECORD = struct.Struct("<4s6H3I5H2I")
# signature, disk, directory's disk, members here, members, size, offset, comment length
END_RECORD = struct.Struct("<4s4H2IH")
# signature, record size, made by, needed, disk, directory's disk, members here, members, size,
# offset
ZIP64_END_RECORD = struct.Struct("<4sQ2H2I4Q")
# signature, disk, offset of the zip64 end record, disks
ZIP64_LOCATOR = struct.Struct("<4sIQI")
ZIP64_END_RECORD_SIZE_FIELD = ZIP64_END_RECORD.size - 12  # as the record counts itself

SENTINEL_16 = 0xFFFF  # "the value stands in a zip64 record"
SENTINEL_32 = 0xFFFFFFFF
EXTRA_HEADER = struct.Struct("<2H")
EXTRA_ZIP64 = 0x0001
EXTRA_PADDING = 0xD935  # Android's zipalign uses it for the same purpose
# Other names for a member, and encryption: fields by which two readers come to differ.
EXTRA_REFUSED = frozenset({0x7075, 0x6375, 0x9901, 0x0017})

FLAG_UTF8 = 0x0800
FLAGS_DEFLATE = 0x0006  # how hard the compressor tried
STORED, DEFLATED = 0, 8
VERSION_NEEDED, VERSION_NEEDED_ZIP64 = 20, 45
MADE_BY_UNIX = 3 << 8
DATE_1980_01_01 = 0x0021
EXTERNAL_ATTRIBUTES = 0o600 << 16
MODE_TYPE_MASK, MODE_REGULAR = 0o170000, 0o100000
DOS_DIRECTORY = 0x10

# Limits ------------------------------------------------------------------------------------

SMALLEST_FILE = END_RECORD.size
MAX_NAME_BYTES = 4096
MAX_JSON_DEPTH = 64
MAX_NUMBER_LENGTH = 1000  # characters of one number in vkml.json
MAX_NPY_HEADER = 10_000  # NumPy's own limit
MAX_DIMENSIONS = 32  # NumPy 1.x could hold no more
MAX_VIEW_DIMENSIONS = 64  # NumPy 2's own limit
MAX_TREE_DEPTH = 64
MAX_TREE_NODES = 2**20
MAX_ARRAY_BYTES = 2**63 - 1
DEFAULT_EXPANSION_RATIO = 100.0
EXPANSION_FLOOR = 2**20  # a member this small may expand as it likes
ALIGNMENTS = (64, 256, 4096)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a reader accepts at most; each is an argument of `load` and `open`."""

    max_expansion_ratio: float = DEFAULT_EXPANSION_RATIO
    max_json: int = 2**24
    max_directory: int = 2**28
    max_file_size: int | None = None
    follow_symlinks: bool = True

    def __post_init__(self) -> None:
        """Refuse limits that limit nothing: NaN is smaller than no size."""
        ratio = self.max_expansion_ratio
        if not isinstance(ratio, int | float):
            raise TypeError(f"max_expansion_ratio must be a number, not {type(ratio).__name__}")
        if not ratio >= 0:
            raise ValueError(f"max_expansion_ratio is {ratio}; give a number of 0 or more")
        for name in ("max_json", "max_directory", "max_file_size"):
            value = getattr(self, name)
            if not (isinstance(value, int) or (value is None and name == "max_file_size")):
                raise TypeError(f"{name} must be a number of bytes, not {type(value).__name__}")


# Dtypes ------------------------------------------------------------------------------------


def _dtype_table() -> dict[str, str]:
    table = {"|b1": "bool", "|i1": "int8", "|u1": "uint8"}
    families = (
        ("i", "int", (2, 4, 8)),
        ("u", "uint", (2, 4, 8)),
        ("f", "float", (2, 4, 8)),
        ("c", "complex", (8, 16)),
    )
    for order in "<>":
        for kind, name, sizes in families:
            table |= {f"{order}{kind}{size}": f"{name}{8 * size}" for size in sizes}
    return table


# The 25 spellings of `descr` that a checkpoint may hold, and the logical dtype of each.
DTYPE_NAMES = _dtype_table()
