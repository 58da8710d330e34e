"""A server in a thread of the test's process, which ends at once when the test does."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class QuietHandler(BaseHTTPRequestHandler):
    """Takes requests and answers them, and says nothing."""

    def take(self) -> None:
        """Take a request and answer it."""
        raise NotImplementedError

    def do_POST(self) -> None:
        self.take()

    def do_GET(self) -> None:
        self.take()

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def answer(self, status: int, data: bytes, **headers: str) -> None:
        """Send all of an answer; a name of a header has ``_`` for ``-``."""
        self.send_response(status)
        for name, value in {**headers, "content_length": str(len(data))}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None: ...


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    """Answer requests with ``handler`` while the block runs, and yield the port on 127.0.0.1."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        # An end of the server waits for its next look at whether it shall end: every half a second unless told.
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_address[1]
        server.shutdown()
