"""``aggregate chat``: a discussion turn by turn, in a pipe and on a terminal."""

import io
import json
import os
import pty
import select
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click
import pytest

from aggregate import BudgetError
from aggregate.cli.chat_commands import completions
from aggregate.cli.chat_session import ChatSession
from aggregate.cli.output import split_blocks
from aggregate.cli.send import AskedTurn
from aggregate.sending import ModelSelection
from tests.cli.command_line import aggregate, program_environment
from tests.cli.loaded import Command, loaded
from tests.fakes.images import png
from tests.fakes.senders import dripping
from tests.projects import project, turns_in

CODE = "".join(f"def name_{n}(value):\n    return value + {n}\n" for n in range(300))
SETTINGS = """
    [project]
    name = "demo"
    [files]
    paths = ["*.py"]
    [personas.brief]
    provider = "scripted"
    system_prompt = "Be brief."
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a project, in which the test is, as within a command."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    made = project(tmp_path / "p", {"manual_slop.toml": SETTINGS, "a.py": CODE, "b.py": "b = 1\n"})
    monkeypatch.chdir(made)
    with click.Context(click.Command("chat")):
        yield made


def chat(lines: str, *options: str, provider: str = "scripted") -> tuple[int, list[str], str]:
    """Pipe lines into ``chat``; return the exit code, the lines of its output, and what was said."""
    asked = ["--provider", provider] if provider else []
    stdin, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(lines.encode()))
    try:
        ended = aggregate("chat", *asked, "--discussion", "default", *options)
    finally:
        sys.stdin = stdin
    return ended.code, ended.out.splitlines(), ended.err


def mine() -> ChatSession:
    selection = ModelSelection("scripted", discussion="default")
    return ChatSession(AskedTurn(Path("manual_slop.toml"), selection=selection, quiet=True))


def questions(name: str = "manual_slop_history.toml") -> list[str]:
    return [turn["content"] for turn in turns_in(Path(name))[::2]]


def test_a_trial_leaves_nothing_beside_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scripted chat keeps its turns among the prompts; a file beside the configuration goes on (S-4)."""
    monkeypatch.chdir(project(tmp_path / "new", {"a.py": "X = 1\n"}))
    chat("One?\n", "--discussion", "")
    chat("Two?\n", "--discussion", "")
    assert sorted(path.name for path in Path().iterdir()) == ["a.py", "md_gen"]
    kept = Path("md_gen/manual_slop.scripted_history.toml")
    assert questions(str(kept)) == ["One?", "Two?"]
    assert aggregate("discussion", "list").out.split("\n")[1].startswith("scripted\t4 turns")
    kept.rename(kept.name)
    chat("Three?\n", "--discussion", "")
    assert questions(kept.name) == ["One?", "Two?", "Three?"]
    assert not kept.exists()


def test_each_line_is_a_turn(folder: Path) -> None:
    """Answers go to standard output, what each costs to standard error; the totals stand at the end (S-6)."""
    code, out, err = chat("One?\n\n /two?\n")
    assert (code, len(out)) == (0, 2)
    assert questions() == ["One?", " /two?"]
    first, second, whole = err.splitlines()
    assert "tokens in, 0% of them from the cache" in first
    assert " in all" in second
    assert "99% of them from the cache" in second
    assert whole.startswith("2 answers: ")
    assert sorted(path.name for path in Path("md_gen").glob("*.md")) == [
        "demo_001.md",
        "demo_001.reply.md",
        "demo_002.md",
        "demo_002.reply.md",
    ]


def test_a_session_writes_what_send_writes(folder: Path) -> None:
    """The same prompts, records and turns byte for byte, so that either goes on where the other has left (S-6)."""
    chat("One?\nTwo?\n", "--budget", "3k")
    names = sorted(path.name for path in Path("md_gen").iterdir())
    kept = {name: (Path("md_gen") / name).read_bytes() for name in names}
    history = Path("manual_slop_history.toml").read_bytes()
    shutil.rmtree("md_gen")
    Path("manual_slop_history.toml").unlink()
    for message in ("One?", "Two?"):
        options = ["--provider", "scripted", "--discussion", "default", "--budget", "3k"]
        aggregate("send", message, *options)
    assert {name: (Path("md_gen") / name).read_bytes() for name in names} == kept
    assert Path("manual_slop_history.toml").read_bytes() == history


def test_commands(folder: Path) -> None:
    """Model, persona, budget and what is pointed at hold for the turns behind; nothing of it is an answer (S-7)."""
    lines = [
        "/model scripted claude-opus-5", "/persona brief", "/budget 3k", "/focus b.py", "/symbol name_7", "/since none",
        "What is this?", "/files", "/plan And?", "/cost", "/model", "/budget none", "/focus none", "/symbol none", "/quit",
        "never",
    ]  # fmt: skip
    code, out, err = chat("\n".join(lines))
    assert (code, len(out)) == (0, 1)
    assert questions() == ["What is this?"]
    said = err.splitlines()
    assert said[:6] == [
        "scripted claude-opus-5",
        "scripted claude-opus-5, persona brief",
        "budget: 3000",
        "focus: b.py",
        "symbols: name_7",
        "since: none",
    ]
    assert any(line.split()[1:] == ["full", "b.py"] for line in said)
    assert any("in all, to scripted claude-opus-5" in line for line in said)
    assert any(line.startswith("1 answer: ") for line in said)
    assert said[-3:] == ["budget: as configured", "focus: none", "symbols: none"]
    record = json.loads(Path("md_gen/.demo_001.chain.json").read_text(encoding="utf-8"))
    assert record["sent"]["model"] == "claude-opus-5"
    audit = json.loads(Path("md_gen/.demo_001.audit.json").read_text(encoding="utf-8"))
    assert audit["budget"]["tokens"] if isinstance(audit["budget"], dict) else audit["budget"]


def test_undo_and_retry(folder: Path) -> None:
    """The last question goes with its answer, or is asked once more; comments of the file stay (S-7)."""
    Path("manual_slop_history.toml").write_text("# mine\n", encoding="utf-8")
    _, out, err = chat("One?\nTwo?\n/undo\nThree?\n/retry\n")
    assert len(out) == 4
    assert "taken back: Two?" in err
    assert questions() == ["One?", "Three?"]
    assert Path("manual_slop_history.toml").read_text(encoding="utf-8").startswith("# mine\n")
    _, _, err = chat("/undo\n/undo\n/undo\n")
    assert err.splitlines()[:2] == ["taken back: Three?", "taken back: One?"]
    assert "does not end with a question and its answer" in err
    assert questions() == []
    assert chat("Four?\n")[0] == 0
    assert questions() == ["Four?"]


def test_retry_keeps_the_answer_until_another_one_is_there(folder: Path) -> None:
    """What cannot be asked once more leaves question and answer as they were, and can be tried again (S-7)."""
    session = mine()
    session.ask("One?")
    session.ask("Two?")
    history = Path("manual_slop_history.toml").read_bytes()
    session.select(budget=10)
    with pytest.raises(BudgetError):
        session.retry()
    assert Path("manual_slop_history.toml").read_bytes() == history
    session.select(budget=None)
    session.retry()
    assert questions() == ["One?", "Two?"]
    assert session.last is not None
    assert session.last.prompt.markdown.count("Two?") == 1


@pytest.mark.parametrize(
    ("lines", "asked"),
    [
        ("/discussion b\nB?\n/discussion default\n/retry\n", ["One?"]),
        ("/discussion b\n/discussion default\n/retry\n", ["One?"]),
        ("/retry\n", ["One?"]),
        ("/discussion none\nAlone?\n/retry\n", ["One?"]),
    ],
)
def test_retry_goes_by_the_discussion(folder: Path, lines: str, asked: list[str]) -> None:
    """The last question of the discussion is asked once more, whoever asked it; outside of all the last one (S-7)."""
    chat("One?\n")
    code, out, _ = chat(lines)
    assert (code, len(out)) == (0, 1 + ("?" in lines))
    assert questions() == asked


def test_compact(folder: Path) -> None:
    """Costs are said before, the summary counts in the totals, and all turns stay as another discussion (S-9)."""
    long = "What of the parser? " * 300
    _, out, err = chat(f"{long}\n{long}\n{long}\n/compact\nAnd now?\n/discussion default-full\n")
    assert len(out) == 4
    said = err.splitlines()
    before = next(
        place for place, line in enumerate(said) if "scripted claude-sonnet-5 summarises " in line
    )
    assert said[before + 2] == "all turns are saved: --discussion default-full continues from them"
    assert said[-2] == 'discussion "default-full", 6 turns'
    assert said[-1].startswith("5 answers: ")
    assert len(turns_in(Path("manual_slop_history.toml"))) == 7


def test_discussions(folder: Path) -> None:
    """A session may go on in another discussion, or in a copy of this one (S-4, S-5, S-7)."""
    _, _, err = chat("One?\n/discussion b\nTwo?\n/fork c\nThree?\n/discussion default\n")
    assert questions() == ["One?"]
    assert questions("manual_slop.b_history.toml") == ["Two?"]
    assert questions("manual_slop.c_history.toml") == ["Two?", "Three?"]
    assert err.splitlines()[-2] == 'discussion "default", 2 turns'


@pytest.mark.parametrize(
    ("lines", "code", "said"),
    [
        ("/nope\n", 2, 'no such command: /nope: '),
        ("/modle x\n", 2, 'did you mean "/model"?'),
        ("/budget some\n", 2, "the budget "),
        ("/focus 'a\n", 2, "a quotation mark is not closed"),
        ("/model a b c\n", 2, "name a model, a provider, or a provider and its model"),
        ("/persona nobody\n", 2, 'no such persona: "nobody"'),
        ("/discussion A/B\n", 2, "invalid name of a discussion 'A/B'"),
        ("/fork\n", 2, "the new discussion needs a name"),
        ("/retry\n", 2, "this discussion has no question yet"),
        ("/focus b.py\nWhat?\n", 2, "need a budget"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_pipe_ends_it(folder: Path, lines: str, code: int, said: str) -> None:
    """One sentence says what is wrong; no further line is sent and paid (S-6)."""
    ended, out, err = chat(f"{lines}never\n")
    assert (ended, out) == (code, [])
    assert said in err
    assert not Path("manual_slop_history.toml").exists()


def test_json_is_a_line_per_answer(folder: Path) -> None:
    """Programs read one document a line (S-6)."""
    _, out, err = chat("One?\nTwo?\n", "--json", "-q")
    assert err == ""
    assert [json.loads(line)["path"][-11:] for line in out] == ["demo_001.md", "demo_002.md"]


def test_completion(folder: Path) -> None:
    """Commands, and what each takes: models, personas, discussions, files (S-7)."""
    Path("manual_slop.deep_history.toml").write_text("history = []\n", encoding="utf-8")
    session = ChatSession(AskedTurn(Path("manual_slop.toml")))
    assert list(completions(session, "", "/pe")) == ["/persona "]
    assert list(completions(session, "/model ", "dee")) == ["deepseek"]
    assert list(completions(session, "/persona ", "")) == ["brief", "none"]
    assert list(completions(session, "/discussion ", "de")) == ["default", "deep"]
    assert list(completions(session, "/focus ", "b")) == ["b.py"]
    assert completions(session, "what is ", "na") == {}
    assert completions(session, "what is ", "@b") == {"@b.py": "(5 tokens)"}
    assert completions(session, "/add ", "B.") == {"b.py": "(5 tokens)"}


class Terminal:
    """The other end of a terminal, from which each text is read once.

    Args:
        descriptor: Of the pseudo terminal.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._unread = b""

    def type(self, text: bytes) -> None:
        os.write(self._descriptor, text)

    def read_until(self, text: str) -> str:
        end = time.monotonic() + 20
        while text.encode() not in self._unread:
            ready = select.select([self._descriptor], [], [], max(end - time.monotonic(), 0))[0]
            assert ready, self._unread.decode(errors="replace")
            self._unread += os.read(self._descriptor, 65536)
        shown, found, self._unread = self._unread.partition(text.encode())
        return (shown + found).decode(errors="replace")


def prompt_of(kind: str) -> str:
    """Return what says that a message is waited for: pastes are asked to be marked."""
    return "> " if kind == "dumb" else "\x1b[?2004h"


@contextmanager
def on_terminal(
    folder: Path, *options: str, kind: str = "xterm"
) -> Iterator[tuple[Command, Terminal]]:
    """Run ``chat`` on a terminal of its own; yield it and the terminal's other end."""
    ours, theirs = pty.openpty()
    variables = {**program_environment(folder), "TERM": kind, "AGGREGATE_API_KEY": "k"}
    variables["PROMPT_TOOLKIT_NO_CPR"] = "1"  # nobody answers where the cursor is
    with ExitStack() as stack:
        stack.callback(os.close, ours)
        running = loaded("openai").running(folder, ["chat", *options], variables, [theirs] * 3)
        process = stack.enter_context(running)
        os.close(theirs)
        yield process, Terminal(ours)


def test_on_a_terminal(folder: Path) -> None:
    """Several lines are one message; Ctrl-C ends an answer and keeps what came; a mistake ends nothing; Ctrl-D leaves.

    (S-6)
    """
    with (
        dripping("Half an ", usage={"prompt_tokens": 3}) as server,
        on_terminal(folder, "--base-url", server.url, "--model", "m") as (process, terminal),
    ):
        terminal.read_until(prompt_of("xterm"))
        terminal.type(b"One\\\rtwo?\r")
        terminal.read_until("Half an ")
        process.interrupt(signal.SIGINT)
        shown = terminal.read_until("demo_001.reply.md")
        assert "stopped; the partial answer is in" in shown
        assert Path("md_gen/demo_001.reply.md").read_text(encoding="utf-8") == "Half an "
        assert not Path("manual_slop_history.toml").exists()
        terminal.type(b"/nope\n")
        terminal.read_until("no such command: /nope")
        server.pieces.put("")  # the server lets the first request go
        server.pieces.put("Whole.")
        server.pieces.put(None)
        terminal.type(b"/retry\n")
        terminal.read_until("price unknown")
        terminal.read_until(prompt_of("xterm"))
        terminal.type(b"\x04")
        assert process.wait() == 0
    assert questions() == ["One\ntwo?"]


@pytest.mark.parametrize(
    ("kind", "pasted"),
    [("xterm", b"\x1b[200~one\rtwo\rthree\x1b[201~"), ("dumb", b"one\rtwo\rthree")],
)
def test_pasted_lines_are_one_message(folder: Path, kind: str, pasted: bytes) -> None:
    """They are sent and paid once (S-6)."""
    with on_terminal(folder, "--provider", "scripted", kind=kind) as (process, terminal):
        terminal.read_until(prompt_of(kind))
        terminal.type(pasted)
        terminal.type(b"\r")
        terminal.read_until("tokens in, ")
        terminal.read_until(prompt_of(kind))
        terminal.type(b"/quit\r")
        assert process.wait() == 0
    assert questions("md_gen/manual_slop.scripted_history.toml") == ["one\ntwo\nthree"]


@pytest.mark.parametrize("kind", ["xterm", "dumb"])
def test_what_is_typed_while_an_answer_comes_is_a_draft(folder: Path, kind: str) -> None:
    """It stands at the next prompt as one message, and is sent when Enter is pressed (S-6)."""
    options = ("--model", "m", "--base-url")
    with (
        dripping("Half, ", usage={"prompt_tokens": 3}) as server,
        on_terminal(folder, *options, server.url, kind=kind) as (process, terminal),
    ):
        terminal.read_until(prompt_of(kind))
        terminal.type(b"First?\r")
        terminal.read_until("Half, ")
        terminal.type(b"And why\rnot la")
        for piece in ("whole.", None, "Later.", None):
            server.pieces.put(piece)
        terminal.read_until("price unknown")
        terminal.read_until("not la")
        assert questions() == ["First?"]
        terminal.type(b"ter?\r")
        terminal.read_until("in all")
        terminal.read_until(prompt_of(kind))
        terminal.type(b"\x04")
        assert process.wait() == 0
    assert questions() == ["First?", "And why\nnot later?"]


def test_what_is_attached_holds_for_the_session(folder: Path) -> None:
    """Files and images are shown beside those of the configuration, which stays as it is, or left out (S-7)."""
    Path("notes.md").write_text("Mind the gap.\n", encoding="utf-8")
    Path("shot.png").write_bytes(png(8, 8))
    configured = Path("manual_slop.toml").read_bytes()
    lines = [
        "/add notes.md",
        "/drop b.py",
        "/attach shot.png",
        "What?",
        "/drop shot.png notes.md",
        "/add b.py",
        "And?",
    ]
    code, out, err = chat("\n".join(lines))
    assert (code, len(out)) == (0, 2)
    assert err.splitlines()[0] == "added notes.md (4 tokens)"
    first, second = (Path(f"md_gen/demo_00{n}.md").read_text(encoding="utf-8") for n in (1, 2))
    assert "Mind the gap." in first
    assert "shot.png" in first
    assert "b.py" not in first
    assert "Mind the gap." not in second
    assert "shot.png" not in second
    assert "b = 1" in second
    assert Path("manual_slop.toml").read_bytes() == configured


def test_what_is_added_is_shown_within_a_budget(folder: Path) -> None:
    """A file that the user adds is shown whatever it costs, as one that is pointed at (S-7)."""
    Path("notes.md").write_text("Mind the gap.\n", encoding="utf-8")
    chat("/add notes.md\nWhat is name_7?\n", "--budget", "3k")
    assert "Mind the gap." in Path("md_gen/demo_001.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/add", "name a file"),
        ("/add nothere.py", "no such file in the project: nothere.py"),
        ("/drop nothere.py", "no such file in the project: nothere.py"),
        ("/add ../secret.py", "../secret.py may not be read"),
        ("/attach b.py", "not a PNG, JPEG, GIF or WebP image"),
        ("/attach shot.png", "no such image: shot.png"),
    ],
)
def test_what_cannot_be_attached_is_refused(folder: Path, line: str, said: str) -> None:
    """One sentence says why, and nothing is sent (S-7)."""
    (folder.parent / "secret.py").write_text("s = 1\n", encoding="utf-8")
    code, out, err = chat(f"{line}\nnever\n")
    assert (code, out) == (2, [])
    assert said in err


def test_a_message_names_a_file(folder: Path) -> None:
    """Who types ``@path`` of a file that is not shown adds it; other words with an at sign are words (S-7)."""
    Path("notes.md").write_text("Mind the gap.\n", encoding="utf-8")
    session = mine()
    session.add_mentioned("What do @notes.md, @property and me@notes.md say?")
    assert session.attached.files == ("notes.md",)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("one\n\ntw", "one\n\n"),
        ("one\n\n", ""),
        ("- one\n\n  more\n\nend", "- one\n\n  more\n\n"),
        ("```\na\n\nb\n", ""),
        ("```\na\n\nb\n```\n\nc", "```\na\n\nb\n```\n\n"),
    ],
)
def test_blocks_of_an_answer(text: str, whole: str) -> None:
    """A block is rendered once nothing can be added to it; code with empty lines is one (S-6)."""
    assert split_blocks(text) == (whole, text.removeprefix(whole))
