"""What reaches a terminal, a pipe and a full disk."""

import ast
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

import aggregate.cli
from tests.cli.command_line import aggregate as run, begin, program_environment, start
from tests.projects import project

EVIL = "\x1b]0;owned\x07\x1b[2J\u202e[red]:smile:"
PRINTERS = {"echo", "secho", "print", "style", "prompt", "confirm", "pager", "echo_via_pager"}


def test_there_is_no_other_way_to_a_terminal() -> None:
    """Nothing in the command line prints but ``cli/output``."""
    others = set()
    for path in Path(aggregate.cli.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and path.name != "output.py":
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if name in PRINTERS or "sys.std" in ast.unparse(node.func):
                    others.add((path.name, ast.unparse(node.func)))
    assert others == {
        ("chat_lines.py", "click.echo"),  # what stands before the cursor: letters that are checked
        ("chat_lines.py", "sys.stdin.buffer.readline"),
        ("chat_lines.py", "sys.stdin.fileno"),
        ("chat_lines.py", "sys.stdin.readline"),
        ("chat_prompt.py", "self._prompt.prompt"),
        ("chat.py", "sys.stdin.isatty"),
        ("arguments.py", "click.confirm"),
        ("arguments.py", "sys.stderr.isatty"),
        ("arguments.py", "sys.stdin.isatty"),
        ("arguments.py", "sys.stdin.buffer.read"),
        ("replay.py", "sys.stderr.write"),  # before anything is loaded
        ("__init__.py", "sys.stderr.write"),  # likewise, where that is interrupted
        ("program.py", "click.echo"),  # help, as click itself prints it
    }


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    """Return a project in which everything that has a name is called like an attack on the terminal."""
    name = f"a{EVIL}.py"
    quoted = EVIL.replace("\x1b", "\\u001b").replace("\x07", "\\u0007")
    return project(
        tmp_path,
        {
            "manual_slop.toml": f"""\
            [files]
            paths = ["*.py", "gone{quoted}.py"]
            [context_presets."p{quoted}"]
            description = "d{quoted}"
            files = ["a.py"]
            [output]
            output_dir = "out\u202e"
            """,
            name: f"x = 1  # {EVIL}\n",
        },
    )


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


COMMANDS = [
    ("run",),
    ("--stdout", "-q"),
    ("--json", "-q"),
    ("stats",),
    ("preset", "list"),
    ("preset", "show", f"p{EVIL}"),
    ("view", f"a{EVIL}.py"),
    ("view", f"{EVIL}.py"),
    ("send", f"say {EVIL}", "--provider", "scripted"),
    ("send", f"say {EVIL}", "--provider", "scripted", "--dry-run"),
    ("run", "--task", f"x {EVIL}", "-q"),
    ("run", "--task", f"x {EVIL}", "--explain"),
    ("explain",),
    ("explain", "*.py"),
    ("explain", EVIL),
    ("locate", f"a{EVIL}.py:1"),
    ("locate", f"{EVIL}:1"),
    ("locate", EVIL),
    (EVIL,),
    ("--preset", EVIL),
    ("-c", f"{EVIL}.toml"),
]


def test_nothing_foreign_steers_a_terminal(evil: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names, contents, descriptions, arguments and errors of every command reach it made visible."""
    monkeypatch.chdir(evil)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(evil / ".xdg"))
    for arguments in COMMANDS:
        _, out, err = run(*arguments, stream=Terminal)
        said = out + err
        assert said, arguments
        assert not [piece for piece in ("\x07", "\u202e", "\x1b[2J", "\x1b]") if piece in said], (
            arguments
        )


def test_a_pipe_gets_the_bytes(evil: Path) -> None:
    """The prompt keeps every byte where no terminal reads it, escapes too; warnings that a log keeps hold none."""
    with begin(evil, "--stdout") as begun:
        out, err = begun.out.read().decode(), begun.err.read().decode()
    assert f"x = 1  # {EVIL}\n" in out
    assert "\x1b" not in err
    assert "no file matches this pattern (globs skip ignored files): gone\\x1b]0;owned" in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_output_is_one_sentence(evil: Path) -> None:
    """What cannot be written is said, with exit code 1 and no second failure at the end of the process."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "aggregate", "--stdout", "-q"],
            cwd=evil,
            env=program_environment(evil),
            stdout=full,
            stderr=subprocess.PIPE,
        )
    last = done.stderr.decode().splitlines()[-1]
    assert (done.returncode, last) == (
        1,
        "aggregate: the output cannot be written: No space left on device",
    )
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="a shell is needed")
@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("-q >&-", 1, "aggregate: the output cannot be written: it is closed\n"),
        ("-q 2>&- <&-", 0, ""),
        ("send - <&-", 2, "standard input is closed"),
    ],
)
def test_closed_streams_are_no_crash(evil: Path, command: str, code: int, said: str) -> None:
    """Whatever streams are missing, the command ends with one sentence at most, if it can be said."""
    line = f"{sys.executable} -m aggregate {command}"
    done = subprocess.run(
        ["sh", "-c", line], cwd=evil, env=program_environment(evil), capture_output=True
    )
    assert done.returncode == code
    assert said in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()


def test_an_ascii_locale_prints_everything(tmp_path: Path) -> None:
    """Prompts are UTF-8 in any locale, and names that it cannot spell are a sentence."""
    project(
        tmp_path, {"manual_slop.toml": '[files]\npaths = ["a.py", "ü.py"]\n', "a.py": "x = 'é'\n"}
    )
    ascii_only = {
        "LC_ALL": "C",
        "PYTHONIOENCODING": "ascii",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    }
    piped = start(tmp_path, "--stdout", **ascii_only)
    assert piped.code == 0
    assert "x = 'é'" in piped.out
    assert "cannot be read: 'ascii' codec" in piped.err
