"""A project whose links lead what we write to the user's own files."""

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from aggregate import OutputError, StateError, compact_data, prune_data_cache, run as run_pipeline
from aggregate.agents.tools import state_store
from aggregate.agents.tracks import Ticket, open_track
from aggregate.agents.tracks.report import RunFiles
from aggregate.agents.tracks.track import Checkbox
from aggregate.prompt.output import prune_outputs, write_numbered
from tests.fakes.conducting import track_project
from tests.hostile.running import aggregate, refused
from tests.projects import project

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and modes of Unix")

PRECIOUS = "export PATH=/usr/bin\n"
CONFIG = '[project]\nname = "demo"\n[files]\npaths = ["a.py"]\n'
SEND = ("send", "Hello?", "--provider", "scripted", "-q")


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep the user's configuration out, and let new files be for everybody by default."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".xdg"))
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return project(tmp_path / "home", {".bashrc": PRECIOUS})


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = project(tmp_path / "tree", {"manual_slop.toml": CONFIG, "a.py": "a = 1\n"})
    monkeypatch.chdir(folder)
    return folder


def untouched(home: Path) -> bool:
    return [path.name for path in home.iterdir()] == [".bashrc"] and (home / ".bashrc").read_text(
        "utf-8"
    ) == PRECIOUS


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.mark.parametrize("command", [("run",), SEND], ids=["run", "send"])
def test_a_journal_that_is_a_link_is_replaced(
    tree: Path, home: Path, command: tuple[str, ...]
) -> None:
    """The record of a prompt replaces a link in its place; prompt and record are for the user alone."""
    (tree / "md_gen").mkdir()
    (tree / "md_gen/.demo_001.chain.json").symlink_to(home / ".bashrc")
    assert aggregate(*command).code == 0
    assert untouched(home)
    for name in ("demo_001.md", ".demo_001.chain.json"):
        assert mode(tree / "md_gen" / name) == 0o600


def test_a_numbered_link_takes_its_number(tree: Path, home: Path) -> None:
    """A link in the place of the next prompt is not written to, wherever it leads: the next number is taken."""
    (tree / "md_gen").mkdir()
    (tree / "md_gen/demo_001.md").symlink_to(home / ".bashrc")
    (tree / "md_gen/demo_002.md").symlink_to(home / "gone")
    assert aggregate("run", "-q").out == "md_gen/demo_003.md\n"
    assert untouched(home)


@pytest.mark.parametrize(
    ("output_dir", "link"),
    [("../home", None), ("{home}", None), ("md_gen", "md_gen"), ("a/md_gen", "a")],
)
@pytest.mark.parametrize(
    "command", [("run", "-q"), ("prune", "--keep", "0"), SEND], ids=["run", "prune", "send"]
)
def test_prompts_stay_in_the_project(
    tree: Path, home: Path, output_dir: str, link: str | None, command: tuple[str, ...]
) -> None:
    """An output folder outside, by its name or by a link above it, is refused; nothing is written or deleted there."""
    (tree / "manual_slop.toml").write_text(
        CONFIG + f'[output]\noutput_dir = "{output_dir.format(home=home)}"\n', encoding="utf-8"
    )
    if link:
        (tree / link).symlink_to(home)
    assert "leads out of the project" in refused(aggregate(*command))
    assert untouched(home)


def test_a_host_chooses_its_own_folder(tree: Path, home: Path) -> None:
    """A mapping comes from the program that calls, which decides itself where prompts go."""
    tables = {"project": {"name": "demo"}, "files": {"paths": ["a.py"]}}
    written = run_pipeline({**tables, "output": {"output_dir": str(home / "out")}})[1]
    assert written == home / "out/demo_001.md"


@pytest.mark.parametrize("name", ["manual_slop_history.toml", "history.toml"])
def test_the_discussion_stays_in_the_project(tree: Path, home: Path, name: str) -> None:
    """A history that is a link out of the project is not written to, also where there is nothing yet."""
    (home / ".bashrc").write_text("history = []\n", encoding="utf-8")
    (tree / name).symlink_to(home / ".bashrc")
    refused(aggregate(*SEND))
    assert (home / ".bashrc").read_text(encoding="utf-8") == "history = []\n"


def test_a_history_that_leads_nowhere_makes_nothing(tree: Path, home: Path) -> None:
    """A link to a file that does not exist makes none outside of the project."""
    (tree / "manual_slop_history.toml").symlink_to(home / "gone")
    assert "outside the project" in refused(aggregate(*SEND))
    assert untouched(home)


def test_the_users_own_history_keeps_its_mode(tree: Path) -> None:
    """A history within the project is written through a link and keeps its mode."""
    kept = project(tree, {"notes/talk.toml": "history = []\n"}) / "notes/talk.toml"
    kept.chmod(0o644)
    (tree / "manual_slop_history.toml").symlink_to("notes/talk.toml")
    assert aggregate(*SEND).code == 0
    assert "Hello?" in kept.read_text(encoding="utf-8")
    assert (mode(kept), (tree / "manual_slop_history.toml").is_symlink()) == (0o644, True)


def test_the_users_own_configuration_may_be_a_link(tree: Path, home: Path) -> None:
    """A configuration that is a link of the user's is written through."""
    (home / "own.toml").write_text(
        CONFIG + '[context_presets.x]\nfiles = ["a.py"]\n', encoding="utf-8"
    )
    (tree / "manual_slop.toml").unlink()
    (tree / "manual_slop.toml").symlink_to(home / "own.toml")
    assert aggregate("preset", "apply", "x").code == 0
    assert 'active_preset = "x"' in (home / "own.toml").read_text(encoding="utf-8")
    assert (tree / "manual_slop.toml").is_symlink()


def test_init_follows_no_link(tree: Path, home: Path) -> None:
    """A link in the place of the configuration counts as one that exists, also if it leads nowhere."""
    (tree / "manual_slop.toml").unlink()
    (tree / "manual_slop.toml").symlink_to(home / "gone")
    assert "already exists" in refused(aggregate("init"))
    assert untouched(home)


def test_pruning_deletes_links_and_not_what_they_lead_to(tree: Path, home: Path) -> None:
    """Old prompts that are links are deleted as links; a prompt's record too."""
    out = tree / "out"
    write_numbered(out, "demo", "text")
    (out / "demo_002.md").symlink_to(home / ".bashrc")
    (out / ".demo_002.chain.json").symlink_to(home / ".bashrc")
    (out / ".demo-0123456789abcdef.tmp").symlink_to(home / ".bashrc")
    assert len(prune_outputs(out, "demo", keep=0)) == 2
    assert untouched(home)


def test_a_state_folder_that_leads_out_is_refused(tree: Path, home: Path) -> None:
    """Values and results are not kept behind a link out of the project, nor deleted there."""
    (tree / "state").symlink_to(home)
    with pytest.raises(StateError, match="through a link"):
        state_store("state").save("a", 1)
    for use in (
        lambda: compact_data("x" * 10_000, "k", cache_dir="state/data_cache"),
        lambda: prune_data_cache("state/data_cache", keep_days=0),
    ):
        with pytest.raises(OutputError, match="a folder that is a link"):
            use()
    assert untouched(home)


@pytest.mark.parametrize("name", ["state.db", "state.db-wal", "state.db-shm", "state.db-journal"])
def test_a_database_of_ours_is_no_link(tree: Path, home: Path, name: str) -> None:
    """A link in the place of the saved state or of one of its logs is refused."""
    (tree / "state").mkdir()
    (tree / "state" / name).symlink_to(home / ".bashrc")
    with pytest.raises(StateError, match="is a link"):
        state_store("state").save("a", 1)
    assert untouched(home)


def test_what_we_make_is_private(tree: Path) -> None:
    """Saved state with its logs, large values, and the folders of both and of prompts are for the user alone."""
    aggregate("run", "-q")
    store = state_store("state")
    modes: set[int] = set()

    def look(_: object) -> int:
        modes.update(mode(path) for path in (tree / "state").iterdir())
        return 1

    store.save("a", 1)
    store.change("a", look)
    reference = compact_data("x" * 10_000, "k", cache_dir="state/data_cache")
    file = Path(str(reference["_data_file"]))
    assert modes | {mode(file)} == {0o600}
    assert {mode(one) for one in (tree / "md_gen", file.parent, file.parent.parent)} == {0o700}


def test_the_files_of_a_run_follow_no_link(tree: Path, home: Path) -> None:
    """Prompts, replies and the report of a track's run replace links; a run's folder that leads out is refused."""
    ticket = Ticket(id="t", prompt="p")
    files = RunFiles.of(tree / "out", "demo", 1, [ticket])
    files.folder.mkdir(parents=True)
    (files.folder / "report.md").symlink_to(home / ".bashrc")
    files.write_report("all is well")
    assert (untouched(home), mode(files.folder / "report.md")) == (True, 0o600)
    (tree / "out/demo_002").symlink_to(home)
    with pytest.raises(OutputError, match="leads out"):
        RunFiles.of(tree / "out", "demo", 2, [ticket])


def test_the_register_stays_in_the_project(tmp_path: Path, home: Path) -> None:
    """It is the user's, and is written through links within the project only."""
    folder = track_project(tmp_path / "tracks", "")
    file = folder / "conductor/tracks.md"
    text = file.read_text(encoding="utf-8")
    (home / ".bashrc").write_text(text, encoding="utf-8")
    file.unlink()
    file.symlink_to(home / ".bashrc")
    track = open_track(folder, "demo")
    with pytest.raises(OutputError, match="leads out of the project"):
        track.mark(Checkbox.DONE)
    assert (home / ".bashrc").read_text(encoding="utf-8") == text
