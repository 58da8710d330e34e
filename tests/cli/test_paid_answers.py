"""An answer that is paid for is on the disk, whatever happens to the one who waits for it."""

import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from aggregate.sending import read_request
from tests.cli.command_line import Begun, aggregate, begin
from tests.fakes.senders import Dripping, dripping
from tests.projects import project, turns_in

LINES = ("One line.\n", "Another with ü.\n", "The end.")
ANSWER = Path("md_gen", "demo_001.reply.md")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and pipes of POSIX")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a project of one file."""
    config = '[project]\nname = "demo"\n[files]\npaths = ["a.py"]\n'
    return project(tmp_path, {"a.py": "A = 1\n", "manual_slop.toml": config})


def sending(
    folder: Path, server: Dripping, stdout: int | None = None
) -> AbstractContextManager[Begun]:
    """Run ``aggregate send`` in a process of its own, and end it if it has not ended."""
    asked = ("send", "Why?", "--base-url", server.url, "--model", "m")
    return begin(folder, *asked, load=("openai",), stdout=stdout)


def answer(folder: Path) -> str:
    """Return what is kept of the answer to the first prompt, and see that it is private."""
    path = folder / ANSWER
    assert path.stat().st_mode & 0o777 == 0o600
    return path.read_text(encoding="utf-8")


def was_recorded(folder: Path) -> bool:
    """Tell whether it is known for the next turn what the provider's cache holds."""
    run = read_request(folder / "md_gen" / "demo_001.md")
    return run is not None and bool(run.provider)


def here(folder: Path, server: Dripping, *options: str) -> tuple[int, str]:
    """Send in this process and return the exit code and standard error."""
    config = ("-c", str(folder / "manual_slop.toml"))
    ended = aggregate("send", "Why?", *config, "--base-url", server.url, "--model", "m", *options)
    return ended.code, ended.err


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_what_came_before_a_signal_is_kept(folder: Path, how: signal.Signals) -> None:
    """As far as it was shown; after Ctrl-C one sentence names the file."""
    with dripping(LINES[0]) as server, sending(folder, server) as begun:
        assert begun.out.readline() == LINES[0].encode()
        begun.command.interrupt(how)
        err, code = begun.err.read(), begun.command.wait()
    assert answer(folder) == LINES[0]
    assert not (folder / "manual_slop_history.toml").exists()
    if how is signal.SIGINT:
        assert code == 130
        assert err.decode().strip() == f"aggregate: interrupted; the partial answer is in {ANSWER}"
        assert was_recorded(folder)


def test_what_came_without_a_reason_for_its_end_is_kept(folder: Path) -> None:
    """It is the answer, with a warning, and the cache is accounted for (S-14)."""
    with dripping(*LINES[:2], "") as server:
        code, err = here(folder, server)
    assert answer(folder) == "".join(LINES[:2])
    assert code == 0
    assert "the answer is incomplete (other)" in err
    assert turns_in(folder / "manual_slop_history.toml")[-1]["content"] == "".join(LINES[:2])
    assert was_recorded(folder)


def test_a_reader_that_leaves_loses_nothing(folder: Path) -> None:
    """As ``head -1`` does: the rest is received and kept with both turns, and one sentence says where."""
    with dripping(LINES[0]) as server, sending(folder, server) as begun:
        begun.out.readline()
        begun.out.close()
        for piece in (*LINES[1:], None):
            server.pieces.put(piece)
        err, code = begun.err.read().decode(), begun.command.wait()
    assert answer(folder) == "".join(LINES)
    said = f"aggregate: the output cannot be written: Broken pipe; the answer is in {ANSWER}"
    assert (code, err.strip()) == (1, said)
    assert turns_in(folder / "manual_slop_history.toml")[-1] == {
        "role": "AI",
        "content": "".join(LINES),
    }


def break_toml(path: Path) -> None:
    path.write_text("history = [", encoding="utf-8")


def link_away(path: Path) -> None:
    path.symlink_to(path.parent.parent / "outside.toml")


@pytest.mark.parametrize("spoil", [break_toml, Path.mkdir, link_away])
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_history_that_cannot_take_the_turn(
    folder: Path, spoil: Callable[[Path], None], options: tuple[str, ...]
) -> None:
    """It became something else while the model wrote: the error names the answer's file, also with ``--json``."""
    with dripping(lambda: spoil(folder / "manual_slop_history.toml"), *LINES, None) as server:
        code, err = here(folder, server, *options)
    assert answer(folder) == "".join(LINES)
    assert code in (1, 2)
    assert len(err.splitlines()) == 1
    assert err.strip().endswith(f"; the answer is in {folder / ANSWER}")
    assert was_recorded(folder)
    assert not (folder.parent / "outside.toml").exists()


def test_a_full_output_is_no_reason_to_lose_an_answer(folder: Path) -> None:
    """On a device without room the answer and both turns are kept."""
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no device that is full")
    with (
        dripping(*LINES, None) as server,
        full.open("wb") as output,
        sending(folder, server, output.fileno()) as begun,
    ):
        err, code = begun.err.read(), begun.command.wait()
    assert answer(folder) == "".join(LINES)
    said = f"aggregate: the output cannot be written: No space left on device; the answer is in {ANSWER}"
    assert (code, err.decode().strip()) == (1, said)
    assert (folder / "manual_slop_history.toml").exists()


def test_no_link_is_followed(folder: Path) -> None:
    """A link that waits where the answer would go is left alone; the next number is taken."""
    (folder / "md_gen").mkdir()
    bait = folder / "bait"
    bait.write_text("mine", encoding="utf-8")
    (folder / ANSWER).symlink_to(bait)
    with dripping(*LINES, None) as server:
        assert here(folder, server)[0] == 0
    assert bait.read_text(encoding="utf-8") == "mine"
    assert (folder / "md_gen" / "demo_002.reply.md").read_text(encoding="utf-8") == "".join(LINES)


def test_a_prompt_that_was_cut_is_warned_of(folder: Path) -> None:
    """The server reports its window instead of the prompt: the answer is kept, and a warning says what was read."""
    (folder / "a.py").write_text("value = 1\n" * 3_000, encoding="utf-8")
    with dripping(*LINES, None, usage={"prompt_tokens": 4096, "completion_tokens": 9}) as server:
        code, err = here(folder, server)
    assert code == 0
    assert "warning: compatible has read 4,096 tokens of about " in err
    assert "it has probably cut the prompt to its context window" in err


def test_half_a_character_is_kept_and_shown(folder: Path) -> None:
    """Servers cut characters in two, and some send a half alone: no file could hold that, and the answer is paid."""
    with dripping("a\ud83d", "\ude00 and \ud800", "b", None) as server:
        assert here(folder, server)[0] == 0
    assert answer(folder) == "a😀 and �b"
    assert turns_in(folder / "manual_slop_history.toml")[-1] == {
        "role": "AI",
        "content": "a😀 and �b",
    }
