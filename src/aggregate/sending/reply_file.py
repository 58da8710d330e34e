"""The file of an answer, written while the answer is received."""

import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from aggregate.base.disk.writing import create_private
from aggregate.base.errors import OutputError
from aggregate.prompt.output.numbered_output import reply_path
from aggregate.sending.clients.protocol import OnText


class ReplyFile:
    """The file of a partly received answer.

    It is written with each piece, so that a kill loses nothing.
    """

    def __init__(
        self, prompt: Path, on_text: OnText | None, *, on_first: Callable[[], None]
    ) -> None:
        self.path = reply_path(prompt)
        self.problem = ""  # why it is incomplete, such as a full disk
        self.is_empty = True  # only blanks so far
        self.error: OSError | OutputError | None = (
            None  # raised by ``on_text``, then not called again
        )
        self._on_text, self._on_first = on_text, on_first
        self._pieces: list[str] = []
        try:
            self._descriptor = create_private(self.path)
        except OSError as error:
            raise OutputError(
                f"cannot write {self.path} for the answer: {error.strerror or error}; nothing was sent"
            ) from error

    def __enter__(self) -> "ReplyFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        try:
            if not self.is_empty:
                os.fsync(self._descriptor)
        except OSError as failure:
            self.problem = failure.strerror or str(failure)
        finally:
            os.close(self._descriptor)
        if self.is_empty:
            self.path.unlink(missing_ok=True)

    def name_in(self, error: BaseException, content: str) -> None:
        if not self.is_empty:
            extent = f", as far as it could be written ({self.problem})" if self.problem else ""
            error.add_note(f"{content} is in {self.path}{extent}")

    def __call__(self, piece: str) -> None:
        self._pieces.append(piece)
        was_empty = self.is_empty
        self._write(piece)
        try:
            if self._on_text is not None and self.error is None:
                self._on_text(piece)
        except (OSError, OutputError) as error:
            self.error = error
        if was_empty and not self.is_empty:
            self._on_first()

    def finish(self, text: str) -> None:
        """Write the part of the answer that was not streamed, without displaying it."""
        streamed = "".join(self._pieces)
        is_whole = text.startswith(streamed)
        self._write(text.removeprefix(streamed) if is_whole else f"\n\n{text}")

    def _write(self, piece: str) -> None:
        self.is_empty = self.is_empty and not piece.strip()
        data = memoryview(piece.encode("utf-8", "backslashreplace"))
        try:
            while data and not self.problem:
                data = data[os.write(self._descriptor, data) :]
        except OSError as error:
            self.problem = error.strerror or str(error)
