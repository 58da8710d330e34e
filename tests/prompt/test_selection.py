"""What is taken, what is left out or listed as generated, and that the prompt and the warnings say so."""

import json
import os
from pathlib import Path

import pytest

from aggregate import Composition, ConfigError, compose_prompt, open_project, request_for
from aggregate.prompt.files import select_files
from tests.cli.command_line import start
from tests.project.repository import git
from tests.projects import project


def made(folder: Path, files: dict[str, object], **tables: object) -> Composition:
    """Compose the prompt of a configuration with this table ``[files]``, as a host does."""
    return compose_prompt(
        request_for(open_project({"files": {"base_dir": str(folder), **files}, **tables}))
    )


def taken(folder: Path, config: str) -> list[str]:
    project(folder, {"manual_slop.toml": config})
    request = request_for(open_project(folder / "manual_slop.toml"), with_history=False)
    return [one.path for one in select_files(request).files if not one.problem]


OWN = [
    "md_gen/demo_001.md", "md_gen/demo_1234.md", "md_gen/demo_001.reply.md", "md_gen/.demo_001.chain.json",
    "md_gen/.demo_001.audit.json", "md_gen/.demo-0123456789abcdef.tmp", "md_gen/older_007.md",
    "md_gen/.older_007.chain.json", "md_gen/older_007.reply.md", "out/theirs_001.md", "out/theirs_001.reply.md",
    "out/.theirs_001.chain.json", "docs/here_012.md", "docs/.here_012.audit.json", "md_gen/track_001/report.md",
    "md_gen/track_001/001_first.prompt.md", "md_gen/track_001/002_second.failed.md",
    "md_gen/track_001/.report.md-0123456789abcdef.tmp", ".manual_slop.toml-0123456789abcdef.tmp",
    "state/data_cache/x/1.json", "state/conductor.sqlite", "state/conductor.sqlite-wal", "state/state.db",
]  # fmt: skip
THEIRS = [
    "docs/demo_001.md", "docs/.here.json", "md_gen/adr_001.md", "md_gen/notes.md", "md_gen/track_001/notes.md",
    "src/state/conductor.sqlite.py", "state/machine.py", "x.tmp",
]  # fmt: skip


@pytest.mark.parametrize("pattern", ["**", "{md_gen,docs,out,src,state}/**", "md_gen/**"])
def test_nothing_that_a_run_has_written_is_fed_back(tmp_path: Path, pattern: str) -> None:
    """Prompts with a record beside them, of any configuration, runs, states and leftovers are taken by no glob."""
    folder = project(tmp_path, dict.fromkeys([*OWN, *THEIRS], "x\n"))
    found = taken(folder, f'[project]\nname = "demo"\n[files]\npaths = ["{pattern}"]\n')
    assert not set(found) & set(OWN)
    expected = [name for name in THEIRS if pattern == "**" or name.startswith("md_gen/")]
    assert set(expected) <= set(found)


def test_binary_files_of_a_glob_are_one_note(tmp_path: Path) -> None:
    """A glob that meets binary files says so once, in the prompt and as a warning; one that is named keeps its item."""
    folder = project(tmp_path, {"a.txt": "text\n"})
    for name in ("b.bin", "c.bin", "d.bin", "e.bin", "f.bin"):
        (folder / name).write_bytes(b"\0\1")
    composed = made(folder, {"paths": ["*", "f.bin"]})
    note = "NOTE: 4 binary files are left out (b.bin, c.bin, d.bin and 1 more): *"
    assert composed.warnings == ("ERROR: binary content (2 bytes): f.bin", note)
    assert composed.prompt.markdown == (
        "## Files\n\n### File a.txt\n\n```text\ntext\n```\n\n### File f.bin\n\n```text\n"
        f"ERROR: binary content (2 bytes): f.bin\n```\n\n### File *\n\n```text\n{note}\n```"
    )


def test_notes_of_one_glob_are_one_item(tmp_path: Path) -> None:
    """Secrets and binary files that one glob meets share an item, so that each heading stands once."""
    folder = project(tmp_path, {"a.txt": "", ".env": "x", "b.bin": "\0"})
    composed = made(folder, {"paths": ["*"]})
    assert [record["path"] for record in composed.records] == ["a.txt", "*"]
    assert composed.warnings == (
        "NOTE: 1 secret-looking file is left out (.env); name one and add --allow-secrets to include it; 1 binary file is left out (b.bin): *",
    )


def test_an_odd_name_breaks_no_message(tmp_path: Path) -> None:
    """A name that is no UTF-8 or holds a line break stands escaped in the sentence on a symbol that is gone."""
    names = ["a\udcff.py", "b\nc.py"]
    folder = project(tmp_path, dict.fromkeys(names, "x = 1\n"))
    entry = {"path": "*.py", "view_mode": "masked", "ast_mask": {"nope": "def"}}
    composed = made(folder, {"paths": [entry]})
    assert [warning.rpartition(": ")[2] for warning in composed.warnings] == ["nope", "nope"]
    lines = composed.prompt.markdown.encode().decode().splitlines()
    assert [line for line in lines if line.startswith("ERROR")] == [
        "ERROR: symbol not found: nope in a\\udcff.py",
        "ERROR: symbol not found: nope in b\\x0ac.py",
    ]


def test_a_glob_without_files_says_so(tmp_path: Path) -> None:
    """A glob that matches nothing but ignored or excluded files is reported like one that matches nothing."""
    folder = project(tmp_path, {".gitignore": "*.log\n", "a.log": "", "c.txt": ""})
    git(folder, "init", "-q")
    why = "ERROR: no file matches this pattern (globs skip ignored files): {}"
    for glob in ("*.log", "*.txt", "*.gone"):
        composed = made(folder, {"paths": [glob], "exclude": ["*.txt"]})
        assert composed.warnings == (why.format(glob),)
        assert why.format(glob) in composed.prompt.markdown


def test_a_folder_that_cannot_be_read_is_a_warning(tmp_path: Path) -> None:
    """A folder that the walk cannot enter, here for the length of its path, is named and ends nothing."""
    folder = project(tmp_path, {"a.py": ""})
    here = os.open(folder, os.O_RDONLY)
    for _ in range(17):
        os.mkdir("d" * 250, dir_fd=here)
        inner = os.open("d" * 250, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    composed = made(folder, {"paths": ["**/*.py"]})
    assert len(composed.records) == 1
    assert [warning[-20:] for warning in composed.warnings] == ["an unreadable folder"]


@pytest.mark.parametrize("base_dir", ["gone", "a.py"])
def test_a_wrong_base_folder_is_one_sentence(tmp_path: Path, base_dir: str) -> None:
    """A base folder that is not there is a mistake of the configuration, not one error for each entry."""
    project(
        tmp_path,
        {"a.py": "", "manual_slop.toml": f'[files]\nbase_dir = "{base_dir}"\npaths = ["a", "*"]\n'},
    )
    request = request_for(open_project(tmp_path / "manual_slop.toml"))
    with pytest.raises(
        ConfigError, match=rf"^files.base_dir: no such folder: {tmp_path}/{base_dir}: correct it"
    ):
        compose_prompt(request)


def test_beads_are_looked_for_in_the_base_folder(tmp_path: Path) -> None:
    """The project of beads is the one around ``files.base_dir``, not the one beside the configuration."""
    bead = '{"id": "x-1", "title": "%s", "status": "open"}\n'
    folder = project(
        tmp_path, {"app/.beads/issues.jsonl": bead % "inner", ".beads/issues.jsonl": bead % "outer"}
    )
    config = '[project]\nexecution_mode = "beads"\n[files]\nbase_dir = "app"\n'
    project(folder, {"manual_slop.toml": config})
    text = compose_prompt(request_for(open_project(folder / "manual_slop.toml"))).prompt.markdown
    assert "inner (x-1)" in text
    assert "outer" not in text


def test_dependencies_and_outputs_are_left_out_where_git_does_not_say(tmp_path: Path) -> None:
    """Outside git globs leave the usual folders out at any depth; an entry that begins in one, or a rule, takes them."""
    names = [
        "node_modules", "venv", ".venv", "build", "dist", "target", "__pycache__", ".mypy_cache",
        "x.egg-info",
    ]  # fmt: skip
    files = [f"{around}{name}/a.py" for name in names for around in ("", "p/q/")]
    folder = project(tmp_path, {**dict.fromkeys([*files, "p/a.py", "odd/b.py", "tmp/c.py"], "")})
    project(folder, {"odd/pyvenv.cfg": "", "tmp/CACHEDIR.TAG": ""})
    assert taken(folder, '[files]\npaths = ["**/*.py"]\n') == ["p/a.py"]
    assert taken(folder, '[files]\npaths = ["build/*.py", "odd/*.py", "venv/a.py"]\n') == [
        "build/a.py",
        "odd/b.py",
        "venv/a.py",
    ]
    project(folder, {".gitignore": "!/dist/\n"})
    assert taken(folder, '[files]\npaths = ["**/*.py"]\n') == ["dist/a.py", "p/a.py"]
    git(folder, "init", "-q")
    assert "node_modules/a.py" in taken(folder, '[files]\npaths = ["**/*.py"]\n')


BANNER = "# Code generated by gen.py. DO NOT EDIT.\n"
FILES = {
    "src/a.py": "def a():\n    return 1\n",
    "src/b.py": BANNER + "def b():\n    return 2\n",
    "src/c.py": BANNER + "def c():\n    return 33\n",
    "src/d/e.py": "# @generated\ne = 1\n",
    "uv.lock": "version = 1\n",
}
LISTED = """\
NOTE: 4 generated files are only listed (158 bytes); name a file to include it: **
src/
  "Code generated by gen.py": b.py (63), c.py (64)
src/d/
  "@generated": e.py (19)
./
  lock file: uv.lock (12)
"""


def composed(
    folder: Path, *paths: object, focus: tuple[str, ...] = (), **files: object
) -> Composition:
    """Compose the prompt of a host's configuration with these paths."""
    tables = {"files": {"base_dir": str(folder), "paths": list(paths), **files}}
    return compose_prompt(request_for(open_project(tables), focus_files=focus))


def contents(composition: Composition) -> dict[str, str]:
    return {file.path: file.view.text for file in composition.files}


def test_a_glob_lists_generated_files(tmp_path: Path) -> None:
    """One note per glob names them with folder, reason and bytes, and one warning counts them (M-60)."""
    composition = composed(project(tmp_path, FILES), "**")
    assert contents(composition) == {"src/a.py": FILES["src/a.py"], "**": LISTED.removesuffix("\n")}
    assert composition.prompt.markdown.endswith(f"### File **\n\n```text\n{LISTED}```")
    assert composition.warnings == (LISTED.splitlines()[0],)


@pytest.mark.parametrize(
    "entry",
    [
        "src/b.py",
        {"path": "src/b.py", "view_mode": "full"},
        {"path": "src/[b].py", "force_full": True},
        {"path": "src/[b].py", "tier": 3},
    ],
)
def test_a_file_that_is_asked_for_is_shown(tmp_path: Path, entry: object) -> None:
    """A name without a wildcard, ``force_full`` and tier 3 ask for the file itself (M-60)."""
    assert contents(composed(project(tmp_path, FILES), entry)) == {"src/b.py": FILES["src/b.py"]}


def test_slices_masks_and_exclusion_stay(tmp_path: Path) -> None:
    """What was picked of a file is shown, and what is out of the prompt anyway is not listed (M-60)."""
    folder = project(tmp_path, FILES)
    slices = [{"start_line": 2, "end_line": 2}]
    picked = {"path": "src/[b].py", "view_mode": "custom", "custom_slices": slices}
    assert "def b():" in contents(composed(folder, picked))["src/b.py"]
    masked = {"path": "src/[b].py", "view_mode": "masked", "ast_mask": {"b": "def"}}
    assert "return 2" in contents(composed(folder, masked))["src/b.py"]
    assert list(contents(composed(folder, {"path": "src/[b].py", "view_mode": "none"}))) == [
        "src/b.py"
    ]
    kept_out = {"path": "src/[b].py", "auto_aggregate": False}
    assert list(contents(composed(folder, kept_out))) == ["src/b.py"]


@pytest.mark.parametrize("focus", ["src/b.py", "b.py"])
def test_a_focus_file_is_shown(tmp_path: Path, focus: str) -> None:
    """However a focus file is named, the prompt holds its text; the others are listed (M-60, M-X7)."""
    composition = composed(project(tmp_path, FILES), "src/*.py", focus=(focus,))
    assert FILES["src/b.py"] in composition.prompt.markdown
    assert "c.py (64)" in composition.prompt.markdown
    assert "return 33" not in composition.prompt.markdown


def test_outlines_and_full_views(tmp_path: Path) -> None:
    """``outline`` stands for whole files and skeletons, ``full`` shows what entries ask (M-60)."""
    folder = project(tmp_path, FILES)
    outlined = contents(composed(folder, "src/*.py", generated="outline"))
    assert outlined["src/a.py"] == FILES["src/a.py"]
    assert "return" not in outlined["src/b.py"]
    assert "def b()" in outlined["src/b.py"]
    full = contents(composed(folder, "src/*.py", generated="full"))
    assert full == {path: FILES[path] for path in ("src/a.py", "src/b.py", "src/c.py")}


def test_gitattributes_above_the_base_folder(tmp_path: Path) -> None:
    """Those of the checkout count from its root down; what lies above it does not."""
    project(tmp_path, {".gitattributes": "*.py linguist-generated\n"})
    folder = project(tmp_path / "clone", {"src/deep/a.py": "x\n"})
    git(folder, "init", "-q")
    assert list(contents(composed(folder / "src", "**/*.py"))) == ["deep/a.py"]
    project(folder, {".gitattributes": "src/deep/* linguist-generated\n"})
    assert list(contents(composed(folder / "src", "**/*.py"))) == ["**/*.py"]
    assert list(contents(composed(folder / "src/deep", "../**/*.py"))) == ["../**/*.py"]


def test_secrets_in_a_banner_are_replaced(tmp_path: Path) -> None:
    """The line that a note quotes of a file is redacted like all of the prompt."""
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    folder = project(tmp_path, {"a.py": f"# Automatically generated by {key}\nx = 1\n"})
    loaded = open_project({"files": {"base_dir": str(folder), "paths": ["*.py"]}})
    assert key in compose_prompt(request_for(loaded)).prompt.markdown
    redacted = compose_prompt(request_for(loaded, redact=True))
    assert key not in redacted.prompt.markdown
    assert "a.py (" in redacted.prompt.markdown


def test_a_name_cannot_forge_a_line(tmp_path: Path) -> None:
    """Line breaks in names of files and folders are escaped in the list."""
    folder = tmp_path / "x\n  lock file: real.py (1)"
    folder.mkdir()
    (folder / "uv.lock").write_text("v\n")
    content = contents(composed(tmp_path, "**"))["**"]
    assert content.split("\n")[1:] == [
        "x\\x0a  lock file: real.py (1)/",
        "  lock file: uv.lock (2)",
    ]


def test_the_option_goes_before_the_configuration(tmp_path: Path) -> None:
    """``--generated`` decides for one ``run`` or ``stats``, whatever the configuration says (M-60)."""
    config = '[files]\npaths = ["src/*.py"]\ngenerated = "full"\n'
    folder = project(tmp_path, {**FILES, "manual_slop.toml": config})
    listed = start(folder, "run", "--stdout", "--generated", "name").out
    assert "generated files are only listed" in listed
    assert "return 33" in start(folder, "run", "--stdout").out
    sizes = json.loads(start(folder, "stats", "--json", "--generated", "name").out)
    assert [file["path"] for file in sizes] == ["src/a.py", "src/*.py"]
