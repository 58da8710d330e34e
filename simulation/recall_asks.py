"""The ways in which a commit is asked for: by its message, or by what else a user has who does not know the answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from simulation.prompt_makers import Ask
from simulation.recall_metrics import changed_definitions
from simulation.task_commits import TaskCommit


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its answer."""

    ask: Ask
    commit: TaskCommit
    done: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """A way to ask."""

    option: str
    help: str
    make: Callable[[TaskCommit], Asked | None]


def asked(commit: TaskCommit, form: str) -> Asked | None:
    """Return the question that ``form`` makes of a commit, ``None`` where it makes none."""
    return FORMS[form].make(commit)


def _message(commit: TaskCommit) -> Asked:
    return Asked(Ask(commit.message), commit)


def _subject(commit: TaskCommit) -> Asked:
    return Asked(Ask(commit.subject), commit)


def _symbol(commit: TaskCommit) -> Asked | None:
    """Point at the first changed definition, and say what the first line of the message says."""
    place = _first_place(commit)
    if place is None:
        return None
    return Asked(Ask(commit.subject, symbols=place[2:]), commit)


def _traceback(commit: TaskCommit) -> Asked | None:
    """Ask with nothing but a message of an interpreter that ends at the first changed line in a definition."""
    place = _first_place(commit)
    if place is None:
        return None
    path, line, symbol = place
    write = _FRAMES.get(Path(path).suffix, "{path}:{line}: error in {symbol}".format)
    return Asked(Ask(write(path=path, line=line, symbol=symbol)), commit)


def _since(commit: TaskCommit) -> Asked | None:
    """Do one file of the change, a test where there is one, and ask for the others by what is not committed yet."""
    order = sorted(commit.files, key=lambda file: (not file.is_test, file.path))
    if len(order) < 2:
        return None
    rest = replace(commit, files=tuple(file for file in commit.files if file != order[0]))
    if not rest.sources:
        return None
    return Asked(Ask(commit.subject, since="HEAD"), rest, (order[0].path,))


def _first_place(commit: TaskCommit) -> tuple[str, int, str] | None:
    """Return the path and the number of a changed line in a definition, and that one's name."""
    for file in commit.sources:
        for changed in changed_definitions(file):
            if changed.name:
                return file.path, changed.lines[0], changed.name
    return None


_FRAMES: Mapping[str, Callable[..., str]] = {
    ".py": (
        'Traceback (most recent call last):\n  File "/srv/app/main.py", line 12, in main\n    run()\n'
        '  File "/srv/app/{path}", line {line}, in {symbol}\nRuntimeError'
    ).format,
    ".go": "panic: runtime error\n\ngoroutine 1 [running]:\nmain.{symbol}()\n\t/srv/app/{path}:{line} +0x1d".format,
    ".rs": "thread 'main' panicked at {path}:{line}:9:\ncalled `Option::unwrap()` on a `None` value".format,
    ".js": "Error: failed\n    at {symbol} (/srv/app/{path}:{line}:11)\n    at node:internal/main:1:1".format,
    ".ts": "Error: failed\n    at {symbol} (/srv/app/{path}:{line}:11)\n    at node:internal/main:1:1".format,
    ".h": "{path}:{line}:5: error: no matching function in {symbol}".format,
}
"""What an interpreter or compiler prints, by suffix."""

FORMS: Mapping[str, Form] = {
    "message": Form("", "the whole message", _message),
    "subject": Form("--subject-only", "ask with the first line of the message", _subject),
    "traceback": Form(
        "--traceback", "ask with a traceback that ends at a changed line", _traceback
    ),
    "symbol": Form("--symbol", "point at the first changed definition", _symbol),
    "since": Form("--since", "do one file of the change and ask for the others", _since),
}
