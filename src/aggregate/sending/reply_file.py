"""The answer to a numbered prompt in a file beside it, as it comes: it is paid for, so nothing may lose it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from aggregate.base.disk import create_private
from aggregate.base.errors import OutputError
from aggregate.prompt import reply_path
from aggregate.sending.clients.protocol import OnText


class ReplyFile:
    """A file that takes an answer piece by piece; each piece is with the system before the next one comes.

    So a kill at any moment loses nothing that had come. Where nothing but blanks came, no file stays.

    Args:
        prompt: The numbered prompt.

    Attributes:
        path: The file.
        is_empty: Whether nothing but blanks has come.
        problem: Why it does not hold all, ``""`` where it does: a full disk is no reason to stop listening.

    Raises:
        OutputError: The file cannot be made, or is there.
    """

    def __init__(self, prompt: Path) -> None:
        self.path = reply_path(prompt)
        self.problem = ""
        self.is_empty = True
        try:
            self._descriptor = create_private(self.path)
        except OSError as error:
            raise OutputError(
                f"cannot write {self.path}, where the answer goes: {error.strerror or error}; nothing was sent"
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

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to say where the file does not hold all."""
        return (f"the answer is not whole in {self.path}: {self.problem}",) if self.problem else ()

    @contextmanager
    def named_in_errors(self, content: str) -> Iterator[None]:
        """Add to whatever is raised a note that ``content`` is in the file, if anything is."""
        try:
            yield
        except BaseException as error:
            if not self.is_empty:
                extent = f", as far as it could be written ({self.problem})" if self.problem else ""
                error.add_note(f"{content} is in {self.path}{extent}")
            raise

    def add(self, piece: str) -> None:
        """Write a piece behind what is there."""
        self.is_empty = self.is_empty and not piece.strip()
        data = memoryview(piece.encode("utf-8", "backslashreplace"))
        try:
            while data and not self.problem:
                data = data[os.write(self._descriptor, data) :]
        except OSError as error:
            self.problem = error.strerror or str(error)


class StreamRecorder:
    """Writes each piece of an answer to its file, and then passes it on.

    Args:
        file: Where it is kept.
        on_text: Called with each piece.

    Attributes:
        file: Where it is kept.
        error: What ``on_text`` raised when its output broke; nothing more is passed on then, but all is kept.
    """

    def __init__(self, file: ReplyFile, on_text: OnText | None) -> None:
        self.error: OSError | OutputError | None = None
        self.file = file
        self._on_text = on_text
        self._pieces: list[str] = []

    def __call__(self, piece: str) -> None:
        """Keep and pass on a piece."""
        self._pieces.append(piece)
        self.file.add(piece)
        if self._on_text is None or self.error is not None:
            return
        try:
            self._on_text(piece)
        except (OSError, OutputError) as error:
            self.error = error

    def finish(self, text: str) -> None:
        """Keep what of the whole ``text`` did not come in pieces; it was shown to nobody and is not shown now."""
        streamed = "".join(self._pieces)
        if text.startswith(streamed):
            self.file.add(text.removeprefix(streamed))
        else:
            self.file.add(f"\n\n{text}")
