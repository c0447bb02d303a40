"""What a view remembers of the tensor whose memory it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vkml.autograd.graph import version_of
from vkml.ops.functions import call

if TYPE_CHECKING:
    from vkml.tensor import Tensor


class ViewOf:
    """The tensor whose memory a view shows, and the version at which the view's node was right."""

    __slots__ = ("base", "version")

    def __init__(self, base: Tensor, version: int) -> None:
        self.base = base
        self.version = version


def refresh_view(view: Tensor) -> None:
    """Derive the node of `view` anew if its memory was written since it was taken."""
    known = view._view
    if known is not None and known.version != version_of(view)[0]:
        call("rederive_view", view, known)
