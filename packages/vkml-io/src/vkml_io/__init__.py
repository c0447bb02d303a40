"""Checkpoints that cannot execute code.

`save` writes arrays and metadata to a `.vkml` file, `load` reads it back after checking every
byte of its structure. The file is a ZIP of `.npy` arrays and one JSON document: no pickle, nothing
to execute. ``docs/format.md`` describes it for readers in other languages.

>>> import numpy as np, vkml_io
>>> vkml_io.save("model.vkml", {"weight": np.zeros((2, 3))}, {"epoch": 3})
>>> vkml_io.load("model.vkml").metadata
{'epoch': 3}
"""

from vkml_io.async_saver import AsyncSaver
from vkml_io.configuration import Config, LoadConfig, SaveConfig, config
from vkml_io.difference import ArrayChange, Difference, MetadataChange, diff
from vkml_io.digest import digest
from vkml_io.entry import VkmlEntry
from vkml_io.errors import (
    ChangedWhileReadError,
    CheckpointError,
    ExpansionError,
    IntegrityError,
    MissingPackageError,
    NotACheckpointError,
    StateMismatchError,
    UnsafeContentError,
    UnsupportedVersionError,
)
from vkml_io.inspection import Entry, inspect
from vkml_io.loading import Checkpoint, load
from vkml_io.metadata_update import update_metadata
from vkml_io.module_state import HasState, load_module, save_module
from vkml_io.progress import Progress
from vkml_io.reader import CheckpointReader, open
from vkml_io.report import Finding, Report
from vkml_io.schema import SchemaError
from vkml_io.trees import load_tree, save_tree
from vkml_io.validation import validate
from vkml_io.writer import save

__all__ = [
    "ArrayChange",
    "AsyncSaver",
    "ChangedWhileReadError",
    "Checkpoint",
    "CheckpointError",
    "CheckpointReader",
    "Config",
    "Difference",
    "Entry",
    "ExpansionError",
    "Finding",
    "HasState",
    "IntegrityError",
    "LoadConfig",
    "MetadataChange",
    "MissingPackageError",
    "NotACheckpointError",
    "Progress",
    "Report",
    "SaveConfig",
    "SchemaError",
    "StateMismatchError",
    "UnsafeContentError",
    "UnsupportedVersionError",
    "VkmlEntry",
    "config",
    "diff",
    "digest",
    "inspect",
    "load",
    "load_module",
    "load_tree",
    "open",
    "save",
    "save_module",
    "save_tree",
    "update_metadata",
    "validate",
]
