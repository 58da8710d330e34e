"""Files that the program reads on its own, replaced by what never ends or never begins."""

import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from aggregate import (
    AggregateError,
    ContextPresetManager,
    DataReferenceError,
    ToolError,
    build_beads_section,
    load_data_reference,
)
from aggregate.agents import read_script
from aggregate.agents.tools import discover_tools
from aggregate.agents.tracks import open_track
from aggregate.agents.tracks.track import Track
from aggregate.project.beads import find_beads_files
from tests.cli.command_line import Ended
from tests.fakes.beads_project import record, write_jsonl
from tests.fakes.conducting import TRACK, track_project
from tests.hostile.running import aggregate, ends, refused
from tests.projects import project

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="files of Unix")

SEND = ("send", "Hello?", "--provider", "scripted")
CONFIG = '[project]\nname = "demo"\n[files]\npaths = ["*.py"]\n'
Kind = Callable[[Path], None]


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def fifo(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()


def hole(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 42)


def listener(path: Path) -> None:
    server = socket.socket(socket.AF_UNIX)
    before = Path.cwd()
    os.chdir(path.parent)  # its name must be short
    server.bind(path.name)
    os.chdir(before)
    server.close()


KINDS: tuple[Kind, ...] = (endless, fifo, folder, hole)
NO_FOLDER: tuple[Kind, ...] = (endless, fifo, hole, listener)
any_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
no_folder = pytest.mark.parametrize("kind", NO_FOLDER, ids=lambda kind: kind.__name__)


@pytest.fixture(autouse=True)
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project that is the current folder, apart from the user's configuration."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".xdg"))
    made = project(tmp_path / "tree", {"manual_slop.toml": CONFIG, "a.py": "a = 1\n"})
    monkeypatch.chdir(made)
    return made


def says_why(ended: Ended) -> str:
    sentence = refused(ended)
    whys = ("is not a regular file", "too large", "is a directory", "outside the project")
    assert any(why in sentence for why in whys)
    return sentence


@no_folder
@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("manual_slop.toml", ("run",)),
        ("manual_slop.toml", SEND),
        ("manual_slop.toml", ("stats",)),
        ("../.xdg/manual_slop/manual_slop.toml", ("preset", "list")),
        ("manual_slop_history.toml", ("run",)),
        ("history.toml", ("run",)),
        (".gitignore", ("run",)),  # without its rules what they hide would be taken
    ],
)
def test_what_steers_a_command_ends(
    tree: Path, kind: Kind, name: str, command: tuple[str, ...]
) -> None:
    """A configuration, history or list of rules that is no file, or an endless one, is one sentence that names it."""
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).unlink(missing_ok=True)
    kind(tree / name)
    assert Path(name).name in says_why(aggregate(*command))


@any_kind
def test_a_record_of_a_prompt_ends(tree: Path, kind: Kind) -> None:
    """Prompts and records of earlier runs may be anything: the run goes on as if there were none."""
    (tree / "md_gen").mkdir()
    (tree / "md_gen/demo_001.md").write_text("", encoding="utf-8")
    kind(tree / "md_gen/.demo_001.chain.json")
    if kind is not folder:
        kind(tree / "md_gen/demo_002.md")
        (tree / "md_gen/.demo_002.chain.json").write_text("[" * 100_000, encoding="utf-8")
    for command in (("run",), SEND, ("stats",)):
        assert aggregate(*command).code == 0


@any_kind
@pytest.mark.parametrize(
    "name", [".git", ".git/HEAD", ".git/config", ".git/commondir", ".git/index"]
)
def test_what_git_reads_ends(tree: Path, kind: Kind, name: str) -> None:
    """Files of git that are none leave the folder without a repository; beads are looked for all the same."""
    if name != ".git":
        (tree / ".git").mkdir()
    (tree / "manual_slop.toml").write_text(
        CONFIG.replace("[files]", 'execution_mode = "beads"\n[files]'), "utf-8"
    )
    kind(tree / name)
    assert "a = 1" in aggregate("run", "--stdout").out


@any_kind
@pytest.mark.parametrize("name", ["gitdir", "commondir"])
def test_a_worktree_pointer_ends(tree: Path, kind: Kind, name: str) -> None:
    """The files of a worktree that lead to its main checkout may be anything."""
    project(
        tree, {"main/gitdir": f"{tree}/.git\n", "main/commondir": "..\n", ".git": "gitdir: main\n"}
    )
    (tree / "main" / name).unlink()
    kind(tree / "main" / name)
    with ends():
        assert find_beads_files(tree, environ={}) is None


@no_folder
@pytest.mark.parametrize("name", [".beads/issues.jsonl", ".beads_mock/beads.json"])
def test_beads_end(tree: Path, kind: Kind, name: str) -> None:
    """A list of beads that is no file, or an endless one, is a warning in the section."""
    (tree / name).parent.mkdir()
    kind(tree / name)
    with ends():
        section = build_beads_section(tree, environ={})
    assert f"Warning: {name}" in section
    assert any(why in section for why in ("is not a regular file", "too large"))


@any_kind
@pytest.mark.parametrize("name", ["redirect", "config.yaml", "metadata.json"])
def test_settings_of_beads_are_as_if_they_were_not_there(tree: Path, kind: Kind, name: str) -> None:
    """What leads elsewhere or says how beads are kept may be anything."""
    write_jsonl(tree / ".beads/issues.jsonl", [record("bd-1")])
    kind(tree / ".beads" / name)
    with ends():
        assert "bd-1" in build_beads_section(tree, environ={})


@no_folder
@pytest.mark.parametrize("name", ["tickets.toml", "../../tracks.md"])
def test_a_tracks_files_end(tmp_path: Path, kind: Kind, name: str) -> None:
    """A file of a track that is none is an error that names it."""
    made = track_project(tmp_path / "tracks", '[[tickets]]\nid = "a"\nprompt = "Look"\n')
    file = made / "conductor/tracks" / TRACK / name
    file.unlink(missing_ok=True)
    kind(file)
    with ends(), pytest.raises(AggregateError, match=Path(name).name):
        uses_of(open_track(made, "demo"))[name]()


def uses_of(track: Track) -> dict[str, Callable[[], object]]:
    return {"tickets.toml": track.tickets}


@any_kind
@pytest.mark.parametrize(
    ("name", "use", "error"),
    [
        ("script.json", read_script, AggregateError),
        ("presets.toml", lambda file: ContextPresetManager(file).load_all(), AggregateError),
        (
            "k_0123456789ab.json",
            lambda file: load_data_reference(file.stem, cache_dir=file.parent),
            DataReferenceError,
        ),
    ],
)
def test_what_a_host_reads_ends(
    tree: Path, kind: Kind, name: str, use: Callable[[Path], object], error: type[Exception]
) -> None:
    """Scripts of the scripted model, presets and kept values are read in the same way."""
    kind(tree / name)
    with ends(), pytest.raises(error):
        use(tree / name)


@any_kind
def test_scripts_of_workers_and_instructions_end(tree: Path, kind: Kind) -> None:
    """Answers of scripted workers and files with a goal are read in the same way."""
    kind(tree / "x.json")
    kind(tree / "goal.toml")
    says_why(aggregate("goal", "--instruction", "goal.toml", "--script", "x.json"))


@pytest.mark.parametrize("kind", [endless, fifo, folder, listener], ids=lambda kind: kind.__name__)
def test_tools_end(tree: Path, kind: Kind) -> None:
    """A file among a folder's tools that is none is named; it is not waited for."""
    (tree / "tools").mkdir()
    kind(tree / "tools/x.py")
    with ends(), pytest.raises(ToolError, match=r"x\.py: it cannot be run"):
        discover_tools(tree / "tools")


def test_a_message_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message from standard input may be endless; it is refused when it is larger than any message."""
    with open("/dev/zero", encoding="utf-8") as endless_input:  # noqa: PTH123
        monkeypatch.setattr("sys.stdin", endless_input)
        ended = aggregate("send", "-", "--provider", "scripted")
    assert ended.code == 2
    assert "standard input is too large" in ended.err


def test_a_deep_record_is_no_record(tmp_path: Path) -> None:
    """Nested JSON that no parser takes is one sentence too."""
    (tmp_path / "script.json").write_text(json.dumps({}) + "[" * 100_000, encoding="utf-8")
    with pytest.raises(AggregateError):
        read_script(tmp_path / "script.json")
