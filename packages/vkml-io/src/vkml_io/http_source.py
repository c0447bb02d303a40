"""A file on a web server, read by ranges: each answer must be the range, and of the same file."""

from __future__ import annotations

import errno
import http.client
import re
import threading
import urllib.error
import urllib.request
from typing import IO, TYPE_CHECKING, NamedTuple, NoReturn

from vkml_io.errors import violation
from vkml_io.source import WINDOW, Source

if TYPE_CHECKING:
    from vkml_io.format import Limits

SCHEMES = ("http://", "https://")
_TIMEOUT_S = 60.0  # without a byte
_TAIL = 2**20  # bytes of the first request: directory and vkml.json of about 8,000 arrays
_SKIPPED = 2**16  # bytes that are read for nothing rather than sending another request
_PARTIAL, _RANGE_REFUSED, _GONE = 206, 416, (404, 410)
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,19})-([0-9]{1,19})/([0-9]{1,19})")
_EMPTY_RANGE = re.compile(r"bytes \*/([0-9]{1,19})")


class _Version(NamedTuple):
    """What tells one state of a file on a server from another."""

    size: int
    etag: str | None
    modified: str | None


class _Answer(NamedTuple):
    """A range that is being received."""

    body: http.client.HTTPResponse
    version: _Version
    start: int
    end: int


class HttpSource(Source):
    """A file behind a URL. One request brings its end, further ones what is asked for.

    Parameters
    ----------
    url : str
        It begins with http:// or https://. Redirections are followed, but not from https to http.
    limits : Limits
        `max_file_size` is used here.
    """

    def __init__(self, url: str, limits: Limits) -> None:
        super().__init__(url)
        self._opener = _make_opener()
        self._lock = threading.RLock()  # one answer at a time
        self._answer: _Answer | None = None  # what of it is not read yet starts at its `start`
        self._closed = False
        self._asked_until = 0
        self._tail = b""  # kept, so that the directory is read once
        self._version = _Version(0, None, None)
        try:
            self._begin(limits)
        except BaseException:
            self.close()
            raise

    def _begin(self, limits: Limits) -> None:
        self._answer = answer = self._request(f"bytes=-{_TAIL}")
        if answer is None:  # an empty file has no range
            self._check_limits(limits)
            return
        self._version = answer.version
        self.size = answer.version.size
        if answer.start != max(self.size - _TAIL, 0) or answer.end != self.size:
            raise self._refused(f"sent bytes {answer.start} to {answer.end} for the last {_TAIL}")
        self._tail = self._read(answer.start, answer.end - answer.start)
        self._window = (self.size, b"")  # the first bytes are read next, and nothing behind them
        self._check_limits(limits)

    def read(self, offset: int, size: int) -> bytes:
        """Return exactly `size` bytes. The caller has compared them with the file's size."""
        known = self._of_tail(offset, size)
        return known if len(known) == size else super().read(offset, size)

    def expect(self, start: int, end: int) -> None:
        """Send one request for the bytes from `start` to `end`, which will be read in order.

        Close behind the last request more is asked for: small arrays are read one after the other.
        """
        tail_start = self.size - len(self._tail)
        window_start, window = self._window
        if start >= tail_start or window_start <= start <= end <= window_start + len(window):
            return
        with self._lock:
            near = 0 <= start - self._asked_until <= _SKIPPED
            self._ask_for(start, max(end, min(start + WINDOW, tail_start)) if near else end)
            self._window = (start, b"")  # what it held would be asked for again

    def _fill(self, buffer: memoryview, offset: int) -> int:
        known = self._known(offset, buffer.nbytes)
        done = len(known)
        buffer[:done] = known
        with self._lock:
            if done < buffer.nbytes:
                self._receive(buffer[done:], offset + done)
        return buffer.nbytes

    def _known(self, offset: int, size: int) -> bytes:
        """Return those of the first of these bytes that are here already."""
        window_start, window = self._window
        start = offset - window_start
        known = window[start : start + size] if 0 <= start < len(window) else b""
        return known or self._of_tail(offset, size)

    def _of_tail(self, offset: int, size: int) -> bytes:
        start = offset - (self.size - len(self._tail))
        return self._tail[start : start + size] if start >= 0 else b""

    def _ahead(self, offset: int) -> int:
        """Return how many bytes the answer has from `offset` on, if it is there."""
        answer = self._answer
        if answer is not None and answer.start <= offset < answer.end:
            return answer.end - offset
        return super()._ahead(offset)

    def _receive(self, buffer: memoryview, offset: int) -> None:
        """Fill `buffer` out of the answer, or out of a new one if it does not hold the range."""
        end = offset + buffer.nbytes
        answer = self._answer
        if answer is None or not (
            answer.start <= offset <= answer.start + _SKIPPED and end <= answer.end
        ):
            answer = self._ask_for(offset, end)
        self._read_body(answer, memoryview(bytearray(offset - answer.start)))
        self._read_body(answer, buffer)
        self._answer = answer._replace(start=end)
        if end == answer.end:
            self._stop()

    def _read_body(self, answer: _Answer, buffer: memoryview) -> None:
        done = 0
        try:
            while done < buffer.nbytes:
                count = answer.body.readinto(buffer[done:])
                if count == 0:
                    self._fail("the connection ended early")
                done += count
        except http.client.HTTPException as error:
            self._fail(f"the answer is malformed ({error})", error)

    def _ask_for(self, start: int, end: int) -> _Answer:
        if self._closed:
            raise ValueError(f"{self.path}: the checkpoint is closed")
        self._stop()
        answer = self._request(f"bytes={start}-{end - 1}")
        if answer is None or answer.version != self._version:
            if answer is not None:
                answer.body.close()
            raise violation("E1", "the file on the server changed; open it again")
        if (answer.start, answer.end) != (start, end):
            answer.body.close()
            raise self._refused(f"sent bytes {answer.start} to {answer.end} for {start} to {end}")
        self._answer = answer
        self._asked_until = end
        return answer

    def _request(self, wanted: str) -> _Answer | None:
        """Return the answer to one request; None if the server has no such range."""
        headers = {"Range": wanted, "Accept-Encoding": "identity", "User-Agent": "vkml-io"}
        try:
            # The opener knows http and https only.
            request = urllib.request.Request(self.path, headers=headers)  # noqa: S310
            body = self._opener.open(request, timeout=_TIMEOUT_S)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == _RANGE_REFUSED:
                self._check_empty(error.headers.get("Content-Range"))
                return None
            if error.code in _GONE:
                raise FileNotFoundError(errno.ENOENT, error.reason, self.path) from None
            self._fail(f"the server answers {error.code} {error.reason}", error)
        except (http.client.HTTPException, ValueError) as error:  # no HTTP, or no URL
            self._fail(f"no answer ({error})", error)
        try:
            return self._checked(body)
        except BaseException:
            body.close()
            raise

    def _checked(self, body: http.client.HTTPResponse) -> _Answer:
        """Return the answer, if its status and headers are those of one range."""
        if body.status != _PARTIAL:
            raise self._refused(
                f"answers {body.status} where 206 is due: it cannot send parts of a file"
            )
        encoding = body.headers.get("Content-Encoding", "identity")
        if encoding != "identity":
            raise self._refused(f"sent the range in the encoding {encoding[:40]!r}")
        text = body.headers.get("Content-Range", "")
        match = _CONTENT_RANGE.fullmatch(text)
        if match is None:
            raise self._refused(f"sent the Content-Range {text[:80]!r}")
        first, last, size = map(int, match.groups())
        if not first <= last < size:
            raise self._refused(f"sent the Content-Range {text[:80]!r}")
        length = body.headers.get("Content-Length")
        if length is not None and length != str(last + 1 - first):
            raise self._refused(f"sent the Content-Length {length[:40]!r} with {text[:80]!r}")
        version = _Version(size, body.headers.get("ETag"), body.headers.get("Last-Modified"))
        return _Answer(body, version, first, last + 1)

    def _check_empty(self, content_range: str | None) -> None:
        """Refuse "no such range" where the file has bytes: the request was for some of these."""
        match = _EMPTY_RANGE.fullmatch(content_range or "")
        if match is None or int(match[1]) not in (0, self.size):
            raise violation("E1", "the server has no such range; the file changed: open it again")

    def check_unchanged(self) -> None:
        """Do nothing: each answer was compared with the first (E1)."""

    def close(self) -> None:
        """Send no more requests. May be called twice."""
        with self._lock:
            self._stop()
            self._window, self._tail = (self.size, b""), b""
            self._closed = True

    def _stop(self) -> None:
        answer, self._answer = self._answer, None
        if answer is not None:
            answer.body.close()

    def _refused(self, what: str) -> OSError:
        remedy = "download the file, and open that"
        return OSError(errno.EPROTO, f"the server {what}; {remedy}", self.path)

    def _fail(self, message: str, cause: Exception | None = None) -> NoReturn:
        raise OSError(errno.EIO, message, self.path) from cause


class _NoDowngrade(urllib.request.HTTPRedirectHandler):
    """Follows redirections, but none from https to http."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        if not newurl.startswith(SCHEMES[1] if req.type == "https" else SCHEMES):
            raise urllib.error.HTTPError(req.full_url, code, "leads to no https", headers, fp)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _make_opener() -> urllib.request.OpenerDirector:
    """Return what sends requests by http and https, and by nothing else."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler,
        urllib.request.UnknownHandler,
        urllib.request.HTTPHandler,
        urllib.request.HTTPSHandler,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.HTTPErrorProcessor,
        _NoDowngrade,
    ):
        opener.add_handler(handler())
    return opener
