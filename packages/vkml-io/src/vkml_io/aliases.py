"""Types that many signatures share."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np

from vkml_io.progress import Progress

PathLike: TypeAlias = str | os.PathLike[str]
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]  # Any: a checkpoint holds every shape and dtype
Mmap: TypeAlias = bool | Literal["c"]  # "c": copied when it is written to
Metadata: TypeAlias = dict[str, Any]  # Any: whatever JSON can say
OnProgress: TypeAlias = Callable[[Progress], object]
