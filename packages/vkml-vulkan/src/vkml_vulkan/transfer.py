"""Bytes between the host and tensors: by mapped memory, inside commands, or through staging."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vkml_vulkan.allocation import Allocation, MemoryKind
from vkml_vulkan.device import LogicalDevice
from vkml_vulkan.exclusion import Exclusive
from vkml_vulkan.memory import Block, Chunk
from vkml_vulkan.recorder import UPDATE_BYTES, Recorder

Bytes = NDArray[np.uint8]

_STAGING_BYTES: Final = 16 * 2**20
_STAGING_BUFFERS: Final = 2
"""One is copied by the host while the device copies the other."""


class Transfer:
    """Moves bytes into and out of chunks. The host's side is always an array of its own."""

    def __init__(
        self, device: LogicalDevice, recorder: Recorder, kind: MemoryKind, staging: MemoryKind
    ) -> None:
        self._device = device
        self._recorder = recorder
        self._kind = kind
        self._staging_kind = staging
        self._lock = Exclusive()
        self._staging: list[Chunk] = []

    def upload(self, data: Bytes, chunk: Chunk) -> None:
        """Write `data` to the beginning of a chunk that no recorded work will read any more."""
        if data.nbytes == 0:
            self._device.require_usable()
        elif self._kind.is_mapped and self._recorder.is_done(chunk.busy_until):
            with self._device.in_use:
                self._bytes_at(chunk.host, data.nbytes)[:] = data
        elif data.nbytes <= UPDATE_BYTES:
            self._recorder.update(chunk, 0, data.tobytes() + bytes(-data.nbytes % 4))
        else:
            self._upload_staged(data, chunk)

    def download(self, chunk: Chunk, offset: int, nbytes: int) -> Bytes:
        """Return a copy of bytes of a chunk, once all work recorded on it is done."""
        result = np.empty(nbytes, np.uint8)
        if nbytes == 0:
            self._device.require_usable()
        elif self._kind.is_cached:
            with self._device.in_use:
                self._recorder.wait(chunk.busy_until)
                result[:] = self._bytes_at(chunk.host + offset, nbytes)
        else:
            self._download_staged(chunk, offset, result)
        return result

    def disown(self) -> None:
        """Leave all to the parent process; a thread that is gone may hold the lock."""
        self._lock = Exclusive()

    def close(self) -> None:
        """Free the staging memory; the device must be idle."""
        for chunk in self._staging:
            chunk.block.allocation.free()
        self._staging = []

    def _upload_staged(self, data: Bytes, chunk: Chunk) -> None:
        with self._lock, self._device.in_use:
            buffers = self._staging_buffers()
            for number, start in enumerate(range(0, data.nbytes, _STAGING_BYTES)):
                staging = buffers[number % len(buffers)]
                part = data[start : start + _STAGING_BYTES]
                self._recorder.wait(staging.busy_until)
                self._bytes_at(staging.host, part.nbytes)[:] = part
                self._recorder.copy(staging, 0, chunk, start, part.nbytes)
                self._recorder.submit()

    def _download_staged(self, chunk: Chunk, offset: int, result: Bytes) -> None:
        with self._lock, self._device.in_use:
            buffers = self._staging_buffers()
            starts = range(0, result.nbytes, _STAGING_BYTES)
            sizes = [min(_STAGING_BYTES, result.nbytes - start) for start in starts]
            for number, start in enumerate(starts):
                # Copies run one ahead: the device fills a buffer while the host empties another.
                if number == 0:
                    self._fetch(chunk, offset, buffers[0], sizes[0])
                if number + 1 < len(sizes):
                    ahead = starts[number + 1]
                    target = buffers[(number + 1) % len(buffers)]
                    self._fetch(chunk, offset + ahead, target, sizes[number + 1])
                staging = buffers[number % len(buffers)]
                self._recorder.wait(staging.busy_until)
                filled = self._bytes_at(staging.host, sizes[number])
                result[start : start + sizes[number]] = filled

    def _fetch(self, chunk: Chunk, offset: int, staging: Chunk, nbytes: int) -> None:
        self._recorder.copy(chunk, offset, staging, 0, nbytes)
        self._recorder.submit()

    def _staging_buffers(self) -> list[Chunk]:
        while len(self._staging) < _STAGING_BUFFERS:
            allocation = Allocation(self._device, _STAGING_BYTES, self._staging_kind)
            self._staging.append(Chunk(Block(allocation), 0, _STAGING_BYTES))
        return self._staging

    def _bytes_at(self, host: int, nbytes: int) -> Any:
        """Return the host's bytes as an array. Nobody outside this class sees it."""
        ffi = self._device.api.ffi
        return np.frombuffer(ffi.buffer(ffi.cast("char*", host), nbytes), np.uint8)
