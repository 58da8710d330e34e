"""The commands: their tables and help, and what is meant where none, a mistyped one, or no configuration is named."""

import os
import re
import subprocess
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from aggregate.cli.program import COMMANDS, load, program
from tests.cli.command_line import Ended, aggregate, succeeded
from tests.processes import python
from tests.projects import project

CONFIG = """\
[project]
name = "demo"
[files]
paths = ["src/**/*.py"]
"""


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project in a repository, whose folder is the current one."""
    files = {
        "manual_slop.toml": CONFIG,
        "src/a.py": "x = 1\n",
        "src/lib/b.py": "def f():\n    return 1\n",
    }
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    folder = project(tmp_path / "demo", files)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["-q"],
        ["--config", "manual_slop.toml"],
        ["--json"],
        ["--stdout"],
        ["--focus", "src/a.py", "-q"],
    ],
)
def test_options_of_run_work_without_its_name(demo: Path, arguments: list[str]) -> None:
    """What ``run`` does with options, the program does with them alone."""
    alone, named = aggregate(*arguments), aggregate("run", *arguments)
    assert (alone.code, named.code) == (0, 0)
    assert alone.out.replace("_001", "_002") == named.out


def test_help_and_version_are_still_the_programs_own(demo: Path) -> None:
    """``--help`` shows commands and says what is meant without one; ``-q --help`` is the help of run."""
    shown = aggregate("--help").out
    assert "\n  Without a command, `run` is used; paths may be left out.\n" in shown
    assert shown.count("...") == 1  # in the usage
    assert aggregate("--version").out.startswith("aggregate, version ")
    assert aggregate("-q", "--help").out.startswith(
        "Usage: aggregate run [OPTIONS] [PATH]... [TASK]\n"
    )


def named(text: str, section: str) -> list[str]:
    """Return the names that a section of a help lists."""
    rows = text.split(f"\n{section}:\n")[1].split("\n\n")[0].split("\n")
    return [row.split()[0].rstrip(",") for row in rows if re.match(r"  \S", row)]


def test_the_first_help_has_few_words_and_another_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """``--help`` shows ten commands on one screen, or fifteen options of run; ``--help-all`` shows every one."""
    monkeypatch.setenv("COLUMNS", "80")
    brief = aggregate("--help").out
    assert brief.count("\n") <= 24
    first = ["run", "explain", "locate", "init", "stats", "view", "send", "chat", "mcp", "panel"]
    assert named(brief, "Commands") == first
    whole = aggregate("--help-all")
    assert (whole.code, named(whole.out, "Commands")) == (0, [*COMMANDS])
    options = [one.opts[0] for one in load("run").params if isinstance(one, click.Option)]
    few = named(aggregate("run", "--help").out, "Options")
    assert len(few) == 15
    assert few[:2] == ["--task", "--budget"]
    for all_options in (aggregate("run", "--help-all"), aggregate("-q", "--help-all")):
        assert set(named(all_options.out, "Options")) == {*options, "-h"}
        assert set(few) < {*options, "-h"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rnu"], "No such command 'rnu'. Did you mean 'run'?"),
        (["stat"], "No such command 'stat'."),
        (["conduct", "rum"], "No such command 'rum'. (Did you mean one of: 'resume', 'run'?)"),
        (["preset", "shwo"], "No such command 'shwo'. Did you mean 'show'?"),
        (["--confg", "x"], "No such option '--confg'."),
    ],
)
def test_what_is_mistyped_is_answered_with_the_nearest(
    demo: Path, arguments: list[str], said: str
) -> None:
    """Commands and options that do not exist exit with 2 and name what was probably meant."""
    ended = aggregate(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert f"Error: {said}" in ended.err


def test_completion_knows_commands_and_the_options_of_run() -> None:
    """A shell completes commands, and behind an option those of the command that works without its name."""
    complete = ShellComplete(program, {}, "aggregate", "_AGGREGATE_COMPLETE")
    assert [item.value for item in complete.get_completions([], "st")] == ["stats"]
    assert "--focus" in {item.value for item in complete.get_completions(["-q"], "--f")}
    assert [item.value for item in complete.get_completions([], "wo")] == []  # an old spelling
    assert [item.value for item in complete.get_completions(["conduct"], "re")] == [
        "resume",
        "retry",
        "reject",
    ]
    assert [item.value for item in complete.get_completions(["conduct", "run"], "--pla")] == [
        "--places"
    ]


def commands(group: click.Group, *path: str) -> list[tuple[str, click.Command]]:
    context = click.Context(group)
    found = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found += [(" ".join((*path, name)), command)]
        found += commands(command, *path, name) if isinstance(command, click.Group) else []
    return found


def test_help_texts_are_whole_sentences() -> None:
    """Each command and option is described by a sentence that begins large, ends with a point and is not cut off."""
    texts = [(name, row.summary) for name, row in COMMANDS.items()]
    for name, command in commands(program):
        texts.append((name, (command.help or "").strip()))
        options = [one for one in command.params if isinstance(one, click.Option)]
        texts += [
            (f"{name} {one.name}", (one.help or "").split("  [default")[0]) for one in options
        ]
    assert not [
        (name, text)
        for name, text in texts
        if not text[:1].isupper() or text[-1:] != "." or "..." in text[-3:]
    ]


def test_from_a_sub_folder_the_nearest_configuration_is_taken(
    demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The configuration above counts, the prompt goes where it says, and what is typed begins in the current folder."""
    monkeypatch.chdir(demo / "src/lib")
    written = aggregate("-q")
    assert written == Ended(0, "../../md_gen/demo_001.md\n", "")
    assert Path(written.out.strip()).is_file()
    focused = aggregate("--stdout", "-q", "--focus", "b.py").out
    assert "### File src/lib/b.py\n\n```python\ndef f():\n    return 1\n" in focused
    assert aggregate("preset", "save", "mine", "*.py", "b.py", "../a.py").code == 0
    shown = aggregate("preset", "show", "mine").out
    assert '"src/lib/*.py"' in shown
    assert '"src/lib/b.py"' in shown
    assert '"src/a.py"' in shown
    assert aggregate("view", "b.py").out.startswith("def f():")


def test_nothing_above_the_repository_counts(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A configuration above the root, or above a folder outside of any repository, belongs to somebody else."""
    (demo.parent / "manual_slop.toml").write_text(CONFIG, encoding="utf-8")
    (demo / "manual_slop.toml").unlink()
    outside = demo.parent / "plain/folder"
    outside.mkdir(parents=True)
    for folder in (demo / "src", outside):
        monkeypatch.chdir(folder)
        assert aggregate("-q").out == f"md_gen/{folder.name}_001.md\n"


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away"
)
@pytest.mark.parametrize("foreign", [".git", ".", "manual_slop.toml"])
def test_what_another_user_put_above_does_not_count(
    demo: Path, monkeypatch: pytest.MonkeyPatch, foreign: str
) -> None:
    """In a folder that is shared anybody may plant a repository and a configuration for those who work below it."""
    monkeypatch.chdir(demo / "src")
    assert aggregate("-q").out == "../md_gen/demo_001.md\n"
    os.chown(demo / foreign, 65534, 65534)
    assert aggregate("-q").out == "md_gen/src_001.md\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'aggregation_strategy = "summarise"',
            "aggregation_strategy: unknown value 'summarise', using auto: did you mean \"summarize\"?",
        ),
        ('execution_mode = "bead"', "execution_mode: unknown value 'bead', using native: did you mean \"beads\"?"),
        ('aggregation_strategy = "x"', "aggregation_strategy: unknown value 'x', using auto: use one of auto"),
    ],
)  # fmt: skip
def test_a_word_that_names_nothing_is_a_warning(demo: Path, text: str, said: str) -> None:
    """A strategy or mode that does not exist is taken as the usual one, and the run says so (rule M-30)."""
    (demo / "m.toml").write_text(
        f"[project]\n{text}\n[files]\npaths = ['src/a.py']\n", encoding="utf-8"
    )
    ended = succeeded("-c", "m.toml")
    assert f"warning: {said}" in ended.err
    sent = aggregate("send", "hi", "-c", "m.toml", "--provider", "scripted", "--dry-run")
    assert f"warning: {said}" in sent.err


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_says_what_the_commands_say(name: str) -> None:
    """Each command exists under its name, and its own help begins with what the list says of it."""
    command = load(name)
    assert command.name == name
    assert command.get_short_help_str(1_000) == COMMANDS[name].summary


@pytest.mark.parametrize("arguments", [["--help"], ["conduct", "--help"], ["--version"]])
def test_a_list_of_commands_loads_none(arguments: list[str]) -> None:
    """The program's help comes from the table, and that of ``conduct`` from the commands' own texts."""
    modules = {f"aggregate.cli.{row.module}" for row in COMMANDS.values()}
    heavy = {"pydantic", "rich", "tiktoken", "dbos", "sqlalchemy"} | modules - {
        "aggregate.cli.conduct"
    }
    code = (
        "import sys; from aggregate.cli.program import run_program\n"
        f"run_program({arguments}); print('loaded', sorted({heavy} & set(sys.modules)))"
    )
    assert python(code).splitlines()[-1] == "loaded []"
