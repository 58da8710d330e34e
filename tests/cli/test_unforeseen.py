"""What nobody foresaw, and prompts that no model takes."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from io import StringIO
from pathlib import Path

import click
import pytest

from aggregate.cli.program import BUG, DEBUG, FAILED, INTERRUPTED, run_program
from aggregate.cli.written_prompt import largest_folders
from aggregate.sending import context_window, exceeded_window
from aggregate.sending.clients import PROVIDERS
from aggregate.sending.prices import USUAL_WINDOW
from tests.cli.command_line import aggregate, start
from tests.processes import python
from tests.projects import project


class OddError(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


def deep(number: int = 0) -> int:
    return deep(number + 1)


@contextmanager
def failing(error: BaseException | None) -> Iterator[click.Group]:
    @click.command("schema")
    def command() -> None:
        if error is None:
            deep()
        else:
            raise error

    class Failing(click.Group):
        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
            return command

    yield Failing(name="aggregate")


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyError("x"), BUG, "KeyError: 'x'; this is a bug of aggregate, AGGREGATE_DEBUG=1 shows the traceback"),
        (None, BUG, "RecursionError: maximum recursion depth exceeded"),
        (MemoryError(), BUG, ": MemoryError; this is a bug of aggregate"),
        (OddError(), BUG, ": OddError; this is a bug of aggregate"),
        (ValueError("two\nlines \x1b[2J"), BUG, "ValueError: two lines \\x1b[2J; this is"),
        (FileNotFoundError(2, "No such file or directory", "a\nb"), FAILED, "No such file or directory: a\\x0ab"),
        (FileNotFoundError(2, "No usable temporary directory found in ['/x']"), FAILED, "No usable temporary directory"),
        (KeyboardInterrupt(), INTERRUPTED, "interrupted"),
        (BrokenPipeError(), FAILED, ""),
    ],
)  # fmt: skip
def test_any_error_is_one_sentence(error: BaseException | None, code: int, said: str) -> None:
    """Errors of the program itself name their place and how to see more; those of the system say what it refused."""
    with failing(error) as group, redirect_stderr(StringIO()) as err:
        assert run_program(["schema"], group=group) == code
    shown = err.getvalue().lstrip("\n")
    assert said in shown
    assert shown.count("\n") == bool(said)


def test_an_interrupt_of_the_start_is_a_sentence(tmp_path: Path) -> None:
    """Ctrl-C in the first tenth of a second, before there is a command to tell of it."""
    interrupts = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"
    project(tmp_path, {"click.py": interrupts})
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    ended = subprocess.run(
        [sys.executable, "-m", "aggregate", "schema"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (
        INTERRUPTED,
        "",
        "aggregate: interrupted\n",
    )


def test_a_traceback_is_there_for_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the variable set, the traceback stands before the sentence."""
    monkeypatch.setenv(DEBUG, "1")
    with failing(KeyError("x")) as group, redirect_stderr(StringIO()) as err:
        assert run_program(["schema"], group=group) == BUG
    assert err.getvalue().startswith("Traceback (most recent call last):\n")
    assert (
        err.getvalue()
        .splitlines()[-1]
        .startswith("aggregate: unexpected error in test_unforeseen.py:")
    )


def test_without_a_folder_for_temporary_files_there_is_no_traceback(tmp_path: Path) -> None:
    """A run needs none."""
    project(tmp_path, {"manual_slop.toml": '[files]\npaths = ["a.py"]\n', "a.py": "x = 1\n"})
    ended = start(tmp_path, "-q", TMPDIR=str(tmp_path / "gone"))
    assert (ended.code, ended.err) == (0, "")


def test_a_folder_that_is_gone_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell may stand in a folder that was deleted meanwhile."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    said = "aggregate: the current folder does not exist any more: go to another one\n"
    assert aggregate() == (FAILED, "", said)


def test_a_prompt_that_no_model_takes_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the largest window of the models to choose from, the remedy and the largest folders are named."""
    monkeypatch.chdir(tmp_path)
    project(tmp_path, {"manual_slop.toml": '[files]\npaths = ["**/*.txt"]\n', "b/c.txt": "y\n"})
    for name in ("a/x/1.txt", "a/x/2.txt", "b/d.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("a b " * 375_000, encoding="utf-8")
    ended = aggregate("--json")
    (warning,) = json.loads(ended.out)["warnings"]
    assert warning.startswith("the prompt has 2,25")
    assert "tokens, more than any model here takes (1,050,000): " in warning
    assert 'aggregate "what you are about to do" --budget 60k selects' in warning
    assert "the largest folders are a/ 1,500,0" in warning
    assert f"warning: {warning}\n" in ended.err


def test_windows_and_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest window bounds, a model of the user's own too; folders stand side by side below what holds everything.

    That of the usual models is known without the price list, which takes half a second to load, and as it has it.
    """
    assert exceeded_window(1_000_000) is None
    assert exceeded_window(5_000_000) == USUAL_WINDOW == 1_050_000
    usual = [provider.model for provider in PROVIDERS.values() if provider.model]
    assert max(context_window(model) or 0 for model in usual) == USUAL_WINDOW
    code = "import sys; from aggregate.sending import exceeded_window; exceeded_window(5_000_000); print(*sys.modules)"
    loaded = python(code).split()
    assert not {"genai_prices", "asyncio", "httpx"} & {*loaded}
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    project(tmp_path / "manual_slop", {"manual_slop.toml": '[models."vast"]\nwindow = 4_000_000\n'})
    assert exceeded_window(3_000_000) is None
    assert exceeded_window(5_000_000) == 4_000_000
    assert largest_folders({}) == []
    assert largest_folders({"a.py": 1}) == [(".", 1)]
    sizes = {"src/p/a/x.py": 5, "src/p/b/y.py": 7, "src/p/b/c/z.py": 1, "src/p/m.py": 2}
    assert largest_folders(sizes) == [("src/p/b/", 8), ("src/p/a/", 5), ("src/p/", 2)]
