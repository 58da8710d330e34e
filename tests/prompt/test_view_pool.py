"""Views in worker processes: the same results, and no failure that spreads."""

import os
import threading
import time
from pathlib import Path
from typing import Any

from aggregate import View, ViewMode
from aggregate.base import ViewRequest
from aggregate.code.views import render_all, render_view
from tests.processes import python
from tests.projects import project

SOURCE = '''\
"""Module {0}."""
import os

class C{0}:
    def method(self, x: int) -> str:
        """Doc."""
        return str(x) * {0}
'''
MODES = [
    ViewMode.SKELETON,
    ViewMode.OUTLINE,
    ViewMode.SUMMARY,
    ViewMode.MASKED,
    ViewMode.FULL,
    ViewMode.CUSTOM,
]


def requests(number: int) -> list[Any]:
    """Return requests in all modes, some of which fail, enough for several batches."""
    made = [
        ViewRequest(
            f"m{i}.py",
            SOURCE.format(i) + f"# {'x' * 100}\n" * (i % 9 * 12),
            MODES[i % len(MODES)],
            {f"C{i}.method": "def", "gone": "sig"},
            ({"start_line": 1, "end_line": 2},),
        )
        for i in range(number)
    ]
    broken = ViewRequest(
        "bad.py", "x = 1\n", ViewMode.CUSTOM, {}, ({"start_line": "?", "end_line": None},)
    )
    return [*made, broken, ViewRequest("odd.py", "é\udcff\r\n\0", ViewMode.SKELETON)]


def test_workers_change_nothing() -> None:
    """One process and two give the views that are made without; failures are the same kind of value (M-5)."""
    wanted = requests(18)
    ready: list[int] = []
    here = [render_view(request) for request in wanted]
    shared = list(render_all(wanted, workers=2, on_done=ready.append))
    assert [type(view) for view in shared] == [type(view) for view in here]
    assert shared == here == list(render_all(wanted, workers=1))
    assert sum(ready) == len(wanted)
    assert len(ready) > 2


class Deadly(str):
    """A text that ends the process that it is sent to, as a crash in a parser does."""

    def __reduce__(self) -> tuple[object, ...]:
        return os._exit, (3,)


class Endless(str):
    """A text that keeps the process that it is sent to busy for an hour."""

    def __reduce__(self) -> tuple[object, ...]:
        return time.sleep, (3600,)


GIVEN_UP = (
    "parsing was stopped: the parser crashed, or took far too much memory or time; "
    'show the file with view_mode = "full", or exclude it'
)


def test_a_crash_costs_the_file_at_fault_only() -> None:
    """The views around a file that kills its process are all there; that file says what happened (M-5)."""
    wanted = requests(14)
    expected = list(render_all(wanted, workers=1))
    for at in (0, 9, 14):
        wanted.insert(at, ViewRequest("deadly.py", Deadly("x = 1"), ViewMode.SKELETON))
    views = list(render_all(wanted, workers=2))
    lost = [views.pop(at) for at in (14, 9, 0)]
    assert lost == [View(f"NOTE: {GIVEN_UP}\nx = 1", (), "text", (GIVEN_UP,))] * 3
    assert views == expected
    assert zombies() == []


def test_a_file_that_takes_too_long_is_given_up() -> None:
    """A process that hangs is killed once patience ends, and the other files are rendered (M-5)."""
    wanted = [ViewRequest("endless.py", Endless("x = 1"), ViewMode.SKELETON), *requests(3)]
    patience = 3  # seconds: a busy machine takes one to start a process
    lost, *views = render_all(wanted, workers=2, patience=patience)
    assert isinstance(lost, View)
    assert lost.problems == (GIVEN_UP,)
    assert views == list(render_all(wanted[1:], workers=1))
    assert zombies() == []


def test_views_of_one_text_are_those_of_each_alone() -> None:
    """Views that share a parse are the ones that each would be by itself, in all languages and with one process and with two."""
    texts = {
        "a.py": SOURCE.format(1),
        "none.py": "import os\nX = 1\n",
        "a.c": "#define API_X __attribute__((x))\nint f(int a) API_X;\nint g(void) { return 1; }\n",
        "a.md": "# One\n\ntext\n",
        "broken.js": "function f( {\n  return 1\n",
    }
    modes = (ViewMode.FULL, ViewMode.SKELETON, ViewMode.OUTLINE, ViewMode.SUMMARY)
    wanted = [ViewRequest(path, text, mode) for path, text in texts.items() for mode in modes]
    alone = [view for request in wanted for view in render_all([request], workers=1)]
    assert list(render_all(wanted, workers=1)) == alone
    assert list(render_all(wanted, workers=2)) == alone


def test_a_reader_that_stops_early_leaves_no_process_at_work() -> None:
    """Giving up after the first view ends the processes that are busy; one or two may wait for what comes next."""
    before = set(children())
    views = render_all(requests(18), workers=4)
    assert isinstance(next(views), View)
    views.close()  # type: ignore[attr-defined]
    assert len(set(children()) - before) <= 2
    assert zombies() == []


def children() -> list[str]:
    """Return the processes that this thread has started and that still run or were not waited for."""
    return (
        Path(f"/proc/self/task/{threading.get_native_id()}/children")
        .read_text(encoding="utf-8")
        .split()
    )


def zombies() -> list[str]:
    """Return those of the children that have ended and were not waited for."""
    states = {pid: Path(f"/proc/{pid}/stat").read_text(encoding="utf-8") for pid in children()}
    return [pid for pid, state in states.items() if state.rpartition(")")[2].split()[0] == "Z"]


def test_the_bytes_are_the_same_everywhere(tmp_path: Path) -> None:
    """Hash seed and number of workers leave no trace in a prompt."""
    files = {f"p{i % 7}/m{i}.py": SOURCE.format(i) for i in range(14)}
    folder = project(
        tmp_path, {**files, "data.json": '{"b": 1, "a": [1, 2]}', "read.md": "# A\n\n## B\n"}
    )
    assert (
        len({digest(folder, workers=number, seed=seed) for number, seed in ((1, "0"), (2, "2"))})
        == 1
    )


def digest(folder: Path, *, workers: int, seed: str) -> str:
    program = f"""\
        import os, sys
        if hasattr(os, "sched_setaffinity"):  # as many processes as cores render views
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:{workers}])
        from aggregate.prompt.api import compose_prompt
        from aggregate.prompt import request_for
        from aggregate.prompt.asking import open_project
        modes = ["skeleton", "outline", "summary", "masked", "full"]
        paths = [{{"path": f"p{{i}}/*.py", "view_mode": modes[i % 5]}} for i in range(7)]
        config = {{"files": {{"paths": [*paths, {{"path": "*", "view_mode": "summary"}}]}}}}
        made = compose_prompt(request_for(open_project(config)))
        sys.stdout.buffer.write(made.prompt.markdown.encode())
        """
    printed = python(program, folder=folder, PYTHONHASHSEED=seed)
    assert printed.count("### File ") == 16
    return printed
