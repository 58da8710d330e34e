"""Everything that the program prints."""

import os
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Final, TextIO

import click

from aggregate.base.errors import OutputError, with_notes
from aggregate.base.text import printable

if TYPE_CHECKING:
    from pathlib import Path

    from rich.progress import Progress, TaskID

MOST_OF_A_KIND: Final = 20  # lines: people read no more
MOST_LINES: Final = 60  # of all kinds: a name with a colon makes a kind of its own
_LABEL: Final = re.compile(r"(?:ERROR|NOTE): ")
# Differences between sentences of one kind.
_VARIABLE: Final = re.compile(r'sha256:[0-9a-f]+|"[^"]*"|\d[\d,.]*')


def group_warnings(sentences: Sequence[str], *, more: str = "") -> list[str]:
    """Shorten a list of warnings.

    Keeps at most 20 warnings of a kind, and 60 in all. A warning is ``place: reason``, or ``ERROR: reason: place`` as
    in prompts. ``more`` is the option to show all warnings, such as ``--json``.
    """
    where = f" ({more} lists them)" if more else ""
    kinds = [_kind(sentence) for sentence in sentences]
    numbers = Counter(kinds)
    lines: list[str] = []
    grouped: set[str] = set()
    for sentence, kind in zip(sentences, kinds, strict=True):
        if numbers[kind] <= MOST_OF_A_KIND:
            lines.append(sentence)
        elif kind not in grouped:
            lines.append(f"{sentence}; and {numbers[kind] - 1:,} more of this kind{where}")
            grouped.add(kind)
    rest = len(lines) - MOST_LINES
    return lines if rest <= 0 else [*lines[:MOST_LINES], f"and {rest:,} more of other kinds{where}"]


def _kind(sentence: str) -> str:
    label = _LABEL.match(sentence)
    reason = sentence[label.end() :] if label else sentence.partition(": ")[2] or sentence
    return _VARIABLE.sub("#", reason.partition(": ")[0])


_BLOCK_BYTES = 1 << 16  # of one write of ``write_pieces``


def write_result(text: str) -> None:
    """Write text to standard output, with a final line break."""
    write_piece(text if not text or text.endswith("\n") else f"{text}\n")


def write_json(data: object, *, indent: int | None = 2) -> None:
    import json  # the help does not load it

    write_result(json.dumps(data, indent=indent))


def write_piece(piece: str) -> None:
    if is_terminal():
        _write(printable(piece, body=True))
    else:
        # JSON too spells a lone surrogate as \udNNN.
        _write(piece.encode("utf-8", "backslashreplace"))


def write_pieces(pieces: Iterable[bytes]) -> None:
    waiting = bytearray()
    for piece in pieces:
        waiting += piece
        if len(waiting) >= _BLOCK_BYTES:
            write_piece(waiting.decode())
            waiting = bytearray()
    write_piece(waiting.decode())


def write_rendered(text: str) -> None:
    _write(text if is_terminal() else text.encode("utf-8", "backslashreplace"))


# The end of a block: a fence, or a blank line. An indented line after a blank one continues its block.
_BLOCK_END: Final = re.compile(r"^ {0,3}(?P<fence>```|~~~)|\n[ \t]*\n+(?=\S)", re.MULTILINE)


@contextmanager
def rendered_answer() -> Iterator[Callable[[str], None]]:
    """Yield a function that takes text and renders each finished block."""
    from rich.console import Console  # slow to load
    from rich.live import Live
    from rich.markdown import Markdown
    from rich.text import Text

    console, waiting = Console(highlight=False), ""

    def render(blocks: str) -> None:
        console.print(Markdown(blocks, hyperlinks=False))  # so that addresses are visible

    with Live(console=console, auto_refresh=False, transient=True, redirect_stderr=False) as live:

        def write(piece: str) -> None:
            nonlocal waiting
            blocks, waiting = split_blocks(waiting + printable(piece, body=True))
            if blocks:
                render(blocks)
                console.print()
            last = waiting.splitlines()[-max(console.height // 2, 1) :]  # rich would cut off more
            live.update(Text("\n".join(last)), refresh=True)

        try:
            yield write
        finally:
            live.update(Text(""), refresh=True)
            if waiting.strip():
                render(waiting)


def split_blocks(text: str) -> tuple[str, str]:
    """Split a text into its finished blocks and the unfinished rest."""
    end, is_code = 0, False
    for match in _BLOCK_END.finditer(text):
        is_code ^= bool(match["fence"])
        if not match["fence"] and not is_code:
            end = match.end()
    return text[:end], text[end:]


def write_path(path: "Path") -> None:
    _write(f"{printable(str(path))}\n" if is_terminal() else os.fsencode(f"{path}\n"))


def write_rows(*rows: str) -> None:
    for row in rows:
        write_result("\t".join(map(printable, row.split("\t"))) + "\n")


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def say(*lines: str, is_repeated: bool = True) -> None:
    """Write lines to standard error; a replayed run prints those with ``is_repeated`` again."""
    _write_error("".join(f"{printable(line)}\n" for line in lines), is_repeated=is_repeated)


def say_body(text: str) -> None:
    _write_error(printable(text, body=True))


def warn(sentence: str) -> None:
    say(f"warning: {sentence.removeprefix('ERROR: ').removeprefix('NOTE: ')}")


def warn_all(sentences: Sequence[str], *, more: str = "") -> None:
    """Write warnings to standard error, shortened by ``group_warnings``."""
    for sentence in group_warnings(sentences, more=more):
        warn(sentence)


def is_terminal(*, err: bool = False) -> bool:
    stream = sys.stderr if err else sys.stdout
    return stream is not None and stream.isatty()


def write_to_terminal(sequence: str) -> bool:
    for stream in (sys.stderr, sys.stdout):
        if stream is not None and stream.isatty():
            try:
                stream.write(sequence)
                stream.flush()
            except (OSError, ValueError):
                continue
            return True
    return False


@contextmanager
def writable_output(note: str = "") -> Iterator[None]:
    """Turn errors of standard output into an ``OutputError``; add ``note``."""
    try:
        yield
    except (OutputError, OSError) as error:
        if note:
            error.add_note(note)
        if isinstance(error, OutputError):
            raise
        raise OutputError(with_notes(error, _unwritable(error))) from None


def _unwritable(error: OSError | ValueError) -> str:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"the output cannot be written: {reason}"


_records: list[list[tuple[int, str]]] = []


def record() -> list[tuple[int, str]]:
    """Return a list collecting all further output, with descriptors."""
    _records.append([])
    return _records[-1]


def _recorded(number: int, data: str | bytes) -> None:
    text = data if isinstance(data, str) else data.decode("utf-8", "surrogateescape")
    for lines in _records:
        lines.append((number, text))


def _write(data: str | bytes) -> None:
    _recorded(1, data)
    if sys.stdout is None:
        raise OutputError("the output cannot be written: it is closed")
    if isinstance(data, bytes) and not hasattr(sys.stdout, "buffer"):
        data = data.decode(errors="replace")  # an embedding program has replaced the stream
    try:
        click.echo(data, nl=False)
    except BrokenPipeError:
        raise  # the reader has left, as `head` does: the command decides
    except (OSError, ValueError) as error:
        raise OutputError(_unwritable(error)) from None


def _write_error(text: str, *, is_repeated: bool = True) -> None:
    if is_repeated:
        _recorded(2, text)
    try:
        click.echo(text, nl=False, err=True)
    except (OSError, ValueError):
        drop_output(sys.stderr)  # the exit code still reports the outcome


def drop_output(stream: TextIO) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


_LONG_WORK = 200  # files: with fewer a run ends before its bar can be read


class Bar:
    def __init__(self, title: str = "", rich: "Progress | None" = None) -> None:
        self._title = title
        self._rich = rich
        self._task: TaskID | None = None

    def start(self, total: int) -> None:
        if self._rich is not None and total >= _LONG_WORK:
            self._task = self._rich.add_task(self._title, total=total)

    def advance(self, done: int) -> None:
        if self._rich is not None and self._task is not None:
            self._rich.advance(self._task, done)


@contextmanager
def orderly_termination() -> Iterator[None]:
    """Let termination signals raise ``SystemExit``, unless ignored as under ``nohup``."""
    import signal  # the help does not load it

    ending = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    handled: list[signal.Signals] = []
    if threading.current_thread() is threading.main_thread():
        handled = [number for number in ending if signal.getsignal(number) is signal.SIG_DFL]
    for number in handled:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


@contextmanager
def progress(title: str, *, hidden: bool) -> Iterator[Bar]:
    with ExitStack() as stack:
        stack.enter_context(orderly_termination())
        rich = None
        if not hidden and is_terminal(err=True):
            # Loading rich adds a twelfth to a run.
            from rich.console import Console
            from rich.progress import Progress

            rich = stack.enter_context(Progress(console=Console(stderr=True), transient=True))
        yield Bar(title, rich)
