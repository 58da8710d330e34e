"""What is taken, what is left out, and that the prompt and the warnings say so."""

import os
from pathlib import Path

import pytest

from aggregate import Composition, ConfigError, compose_prompt, open_project, request_for
from aggregate.prompt import select_files
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
    note = "NOTE: 4 matching files left out as binary (b.bin, c.bin, d.bin and 1 more): *"
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
        "NOTE: 1 matching file left out as secret-looking (.env), to take one name it and add --allow-secrets; 1 matching file left out as binary (b.bin): *",
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


def test_a_glob_for_ignored_files_says_so(tmp_path: Path) -> None:
    """A glob that matches nothing but ignored or excluded files names one; nothing at all is still nothing."""
    folder = project(
        tmp_path, {".gitignore": "*.log\n/out/\n", "a.log": "", "out/b.py": "", "c.txt": ""}
    )
    git(folder, "init", "-q")
    why = "ERROR: all files that match this pattern are ignored or excluded, such as {}; name one to take it: {}"
    for glob, example in (("*.log", "a.log"), ("**/*.py", "out/b.py"), ("*.txt", "c.txt")):
        composed = made(folder, {"paths": [glob], "exclude": ["*.txt"]})
        assert composed.warnings == (why.format(example, glob),)
        assert why.format(example, glob) in composed.prompt.markdown
    assert made(folder, {"paths": ["*.gone"]}).warnings == (
        "ERROR: no file matches this pattern: *.gone",
    )


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
    assert [warning[-28:] for warning in composed.warnings] == ["a folder that cannot be read"]


@pytest.mark.parametrize("base_dir", ["gone", "a.py"])
def test_a_wrong_base_folder_is_one_sentence(tmp_path: Path, base_dir: str) -> None:
    """A base folder that is not there is a mistake of the configuration, not one error for each entry."""
    project(
        tmp_path,
        {"a.py": "", "manual_slop.toml": f'[files]\nbase_dir = "{base_dir}"\npaths = ["a", "*"]\n'},
    )
    request = request_for(open_project(tmp_path / "manual_slop.toml"))
    with pytest.raises(
        ConfigError, match=rf"^files.base_dir: there is no folder {tmp_path}/{base_dir}: correct it"
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
