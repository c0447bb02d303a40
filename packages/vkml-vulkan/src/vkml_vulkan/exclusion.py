"""A lock that the thread which holds it cannot take again, and cannot hang on either."""

from __future__ import annotations

import threading
from typing import Final

from vkml_vulkan.errors import VulkanError


class Exclusive:
    """A lock around what must not be interleaved, not even with itself.

    Python runs signal handlers and finalizers in the midst of anything. One that takes the lock
    which its own thread holds would wait for ever, or, were that allowed, spoil what is half done;
    so it is told. Where speed counts, `mutex` and `is_taken` are used directly.
    """

    __slots__ = ("is_taken", "mutex")

    def __init__(self) -> None:
        self.mutex: Final = threading.RLock()
        self.is_taken = False

    def __enter__(self) -> None:
        self.mutex.acquire()
        if self.is_taken:
            self.mutex.release()
            raise_taken()
        self.is_taken = True

    def __exit__(self, *_: object) -> None:
        self.is_taken = False
        self.mutex.release()


def raise_taken() -> None:
    """Raise what a signal handler or finalizer is told that comes at the wrong moment."""
    raise VulkanError(
        "a signal handler or a finalizer uses a Vulkan device while its thread is at work on it. "
        "Let the handler set a flag, and do the work where the flag is seen."
    )
