"""Running kernels without NumPy's floating-point warnings."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any, Final

import numpy as np


class _Quiet(threading.local):
    """Runs kernels with NumPy's floating-point warnings off: dividing by zero is no news.

    Entering `np.errstate` costs a microsecond; a context in which it was entered once costs 20 ns.
    A context belongs to one thread at a time, hence one for each.
    """

    def __init__(self) -> None:
        context = contextvars.copy_context()
        context.run(np.errstate(all="ignore").__enter__)
        self.run: Callable[..., Any] = context.run


quiet: Final = _Quiet()
run_on_main_path: Final = _Quiet().run
"""As ``quiet.run``, without the look-up; raises RuntimeError while another thread is inside."""
