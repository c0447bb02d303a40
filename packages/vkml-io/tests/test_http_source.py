"""Checkpoints on a web server: few requests, and no answer is believed that does not fit."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vkml_io

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from vkml_io.aliases import Array

Headers = dict[str, str]


class _Server(ThreadingHTTPServer):
    """Serves `data` by ranges, and notes what it is asked for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.data = b""
        self.etag = '"1"'
        self.asked: list[str] = []
        self.change: Callable[[int, Headers, bytes], tuple[int, Headers, bytes]] | None = None
        self.url = f"http://127.0.0.1:{self.server_port}/model.vkml"

    def handle_error(self, *_arguments: Any) -> None:
        """Say nothing: a client that reads no more closes the connection."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/model.vkml")
            self.end_headers()
            return
        if self.path == "/elsewhere":
            self.send_response(302)
            self.send_header("Location", "ftp://127.0.0.1/model.vkml")
            self.end_headers()
            return
        wanted = self.headers["Range"]
        self.server.asked.append(wanted)
        status, headers, body = self._range(wanted)
        if self.server.change is not None:
            status, headers, body = self.server.change(status, headers, body)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _range(self, wanted: str) -> tuple[int, Headers, bytes]:
        data, size = self.server.data, len(self.server.data)
        match = re.fullmatch(r"bytes=(\d*)-(\d*)", wanted)
        assert match is not None
        first, last = match.groups()
        start = int(first) if first else max(size - int(last), 0)
        end = min(int(last) + 1, size) if first else size
        if start >= end:
            return 416, {"Content-Range": f"bytes */{size}", "Content-Length": "0"}, b""
        headers = {
            "Content-Range": f"bytes {start}-{end - 1}/{size}",
            "Content-Length": str(end - start),
            "ETag": self.server.etag,
        }
        return 206, headers, data[start:end]

    def log_message(self, *_arguments: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[_Server]:
    with _Server() as found:
        thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield found
        found.shutdown()
        thread.join()


@pytest.fixture
def model(tmp_path: Path, server: _Server, arrays: dict[str, Array]) -> dict[str, Array]:
    """Serve a checkpoint that is larger than the part that the first request brings."""
    arrays = {"first": np.arange(5 * 10**5), "second": np.arange(3.0)} | arrays
    arrays["large"] = np.arange(9 * 10**5)
    server.data = _saved(tmp_path, arrays)
    return arrays


def _saved(folder: Path, arrays: dict[str, Any], **options: Any) -> bytes:
    vkml_io.save(folder / "model.vkml", arrays, {"epoch": 3}, **options)
    return (folder / "model.vkml").read_bytes()


def test_two_requests_open_a_checkpoint_and_one_more_reads_an_array(
    server: _Server, model: dict[str, Array]
) -> None:
    with vkml_io.open(server.url) as reader:
        assert list(reader) == list(model)
        assert reader.metadata == {"epoch": 3}
        assert len(server.asked) <= 2
        for key in ("first", "second"):
            asked = len(server.asked)

            array = reader[key]

            assert len(server.asked) == asked + 1
            assert array.tobytes() == model[key].tobytes()
            assert array.flags.writeable


def test_one_request_opens_a_checkpoint_of_a_megabyte(
    server: _Server, tmp_path: Path, arrays: dict[str, Array]
) -> None:
    server.data = _saved(tmp_path, arrays)

    with vkml_io.open(server.url) as reader:
        for key, array in reader.items():
            np.testing.assert_array_equal(array, arrays[key])

    assert len(server.asked) == 1


def test_no_more_is_fetched_than_needed(server: _Server, model: dict[str, Array]) -> None:
    with vkml_io.open(server.url) as reader:
        reader["first"]

    assert server.asked[1] == "bytes=0-3"
    end = int(server.asked[2].rpartition("-")[2])
    assert end < model["first"].nbytes + 2**18


def test_two_requests_open_a_checkpoint_of_thousands_of_arrays(
    server: _Server, tmp_path: Path
) -> None:
    server.data = _saved(tmp_path, {f"block.{i}.weight": np.full(32, i) for i in range(6000)})

    with vkml_io.open(server.url) as reader:
        assert len(reader) == 6000
        assert len(server.asked) == 2
        assert reader["block.7.weight"].tolist() == [7] * 32
        assert len(server.asked) == 3


def test_small_arrays_one_after_the_other_need_few_requests(
    server: _Server, tmp_path: Path
) -> None:
    arrays = {f"{i}": np.full(500, i) for i in range(500)}
    server.data = _saved(tmp_path, arrays)

    with vkml_io.open(server.url) as reader:
        for key, array in reader.items():
            assert array.tolist() == arrays[key].tolist()

    assert len(server.asked) < 15


@pytest.mark.parametrize("compress", [False, True])
def test_every_array_reads_as_from_the_file(
    server: _Server, tmp_path: Path, arrays: dict[str, Array], compress: bool
) -> None:
    arrays["large"] = np.arange(10**6) % 1000
    server.data = _saved(tmp_path, arrays, compress=compress)

    with vkml_io.open(server.url) as remote, vkml_io.open(tmp_path / "model.vkml") as local:
        for key in [*arrays, "large", *reversed(arrays)]:
            assert remote[key].tobytes("A") == local[key].tobytes("A")
            assert remote[key].flags.f_contiguous == local[key].flags.f_contiguous
        assert remote.slice("large", np.s_[7:900_000:3]).sum() == arrays["large"][7:900_000:3].sum()
        remote.verify()


def test_threads_share_a_reader(server: _Server, model: dict[str, Array]) -> None:
    wrong: list[str] = []

    def read(reader: vkml_io.CheckpointReader) -> None:
        wrong.extend(
            key
            for key in ("large", "first", "second", "large")
            if reader[key].tobytes() != model[key].tobytes()
        )

    with vkml_io.open(server.url) as reader:
        threads = [threading.Thread(target=read, args=(reader,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert not wrong


def test_redirections_are_followed(server: _Server, model: dict[str, Array]) -> None:
    with vkml_io.open(server.url.replace("/model.vkml", "/moved")) as reader:
        assert reader["second"].tolist() == model["second"].tolist()


def test_redirections_to_other_protocols_are_refused(server: _Server) -> None:
    with pytest.raises(OSError, match="302"):
        vkml_io.open(server.url.replace("/model.vkml", "/elsewhere"))


def _without(name: str) -> Callable[[int, Headers, bytes], tuple[int, Headers, bytes]]:
    return lambda status, headers, body: (
        status, {k: v for k, v in headers.items() if k != name}, body
    )  # fmt: skip


def _with(name: str, value: str) -> Callable[[int, Headers, bytes], tuple[int, Headers, bytes]]:
    return lambda status, headers, body: (status, headers | {name: value}, body)


REFUSED: dict[str, tuple[Callable[[int, Headers, bytes], tuple[int, Headers, bytes]], str]] = {
    "no ranges": (lambda _status, headers, body: (200, headers, body), "200 where 206"),
    "an error": (lambda _status, _headers, _body: (503, {}, b""), "503"),
    "no Content-Range": (_without("Content-Range"), "Content-Range"),
    "another range": (_with("Content-Range", "bytes 0-9/100"), "Content-"),
    "a range in other units": (_with("Content-Range", "lines 0-9/100"), "Content-Range"),
    "an open range": (_with("Content-Range", "bytes 0-9/*"), "Content-Range"),
    "a range outside": (_with("Content-Range", "bytes 5-100/100"), "Content-Range"),
    "a number too long": (_with("Content-Range", f"bytes 0-{'9' * 5000}/1"), "Content-Range"),
    "another length": (_with("Content-Length", "7"), "Content-Length"),
    "an encoding": (_with("Content-Encoding", "gzip"), "encoding"),
    "half of the body": (
        lambda status, headers, body: (status, headers, body[: len(body) // 2]), "ended early"),
    "no range at all": (lambda _status, _headers, _body: (416, {}, b""), "no such range"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("at", ["open", "array"])
@pytest.mark.usefixtures("model")
def test_an_answer_that_does_not_fit_is_refused(server: _Server, name: str, at: str) -> None:
    change, message = REFUSED[name]
    if at == "open":
        server.change = change
        with pytest.raises((OSError, vkml_io.CheckpointError), match=message):
            vkml_io.open(server.url)
        return
    with vkml_io.open(server.url) as reader:
        server.change = change
        with pytest.raises((OSError, vkml_io.CheckpointError)):
            reader["first"]
        server.change = None

        assert reader["first"][-1] == 5 * 10**5 - 1


@pytest.mark.parametrize("what", ["etag", "size", "shorter"])
@pytest.mark.usefixtures("model")
def test_a_file_that_changes_is_refused(server: _Server, what: str) -> None:
    with vkml_io.open(server.url) as reader:
        if what == "etag":
            server.etag = '"2"'
        elif what == "size":
            server.data += b"\0"
        else:
            server.data = server.data[:100]
        with pytest.raises(vkml_io.ChangedWhileReadError) as caught:
            reader["first"]

    assert caught.value.code == "E1"
    assert caught.value.path == server.url


def test_damage_is_seen(server: _Server, model: dict[str, Array]) -> None:
    position = server.data.index(model["first"].tobytes()) + 4321
    server.data = server.data[:position] + b"\xff" + server.data[position + 1 :]

    with vkml_io.open(server.url) as reader, pytest.raises(vkml_io.IntegrityError):
        reader["first"]


@pytest.mark.parametrize("size", [0, 1, 21, 22, 500])
def test_the_beginning_of_a_checkpoint_is_none(
    server: _Server, model: dict[str, Array], size: int
) -> None:
    assert model
    server.data = server.data[:size]

    with pytest.raises(vkml_io.NotACheckpointError):
        vkml_io.open(server.url)


def test_limits_hold(server: _Server, model: dict[str, Array]) -> None:
    assert model
    with pytest.raises(vkml_io.CheckpointError, match="max_file_size=1000"):
        vkml_io.open(server.url, max_file_size=1000)


def test_a_missing_file_is_a_missing_file(server: _Server) -> None:
    server.change = lambda _status, _headers, _body: (404, {}, b"")

    with pytest.raises(FileNotFoundError):
        vkml_io.open(server.url)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/x", "http://[broken", "http:// /x", "https://127.0.0.1:x/"]
)
def test_what_leads_nowhere_is_an_error_of_the_system(url: str) -> None:
    with pytest.raises(OSError, match=r"."):
        vkml_io.open(url)


def test_a_closed_reader_sends_no_request(server: _Server, model: dict[str, Array]) -> None:
    reader = vkml_io.open(server.url)
    reader.close()
    asked = len(server.asked)

    with pytest.raises(ValueError, match="closed"):
        reader["first"]

    assert model
    assert len(server.asked) == asked


def test_load_and_validate_reach_for_no_network(server: _Server, model: dict[str, Array]) -> None:
    assert model
    for function in (vkml_io.load, vkml_io.validate, vkml_io.inspect):
        with pytest.raises(FileNotFoundError):
            function(server.url)

    assert not server.asked


def test_the_modules_of_http_are_imported_when_they_are_needed() -> None:
    code = (
        "import vkml_io, sys; assert not {'http.client', 'urllib.request', 'ssl'} & {*sys.modules}"
    )

    subprocess.run([sys.executable, "-c", code], check=True)
