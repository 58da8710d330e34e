"""A prompt as a stream, and one that is composed again and again: the same as a fresh one, whatever is known."""

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from aggregate import LivePrompt, Prompt, compose_prompt, open_project, request_for, stream_prompt
from aggregate.project.index import Index
from aggregate.prompt import Request
from tests.base.redaction.samples import PLANTED
from tests.projects import project
from tests.prompt.composing import in_index, kept_nothing

FILES = {
    "a.py": 'import os\n\n\ndef one(x: int) -> int:\n    """Doc."""\n    return x + 1\n',
    "empty.py": "",
    "plain.py": "LIMIT = 3\n",
    "hidden.py": "def f():\n    return 1 # \u202e\n",
    "latin.py": "def g():\n    # ä\n    return 'f\xfcr \xe4hnliche \xd6fen und M\xfchlen, gr\xfc\xdfe aus K\xf6ln'\n",
    "b.go": "package b\n\nfunc Two() int {\n\treturn 2\n}\n",
    "page.html": "<html><body><h1 id='a'>Title</h1></body></html>\n",
    "notes.md": "# One\n\ntext\n\n## Two\n",
    "data.csv": "a,b\n1,2\n",
    "script": "#!/usr/bin/env python3\ndef three():\n    return 3\n",
    "head.h": "#ifndef H\nint four(void);\n#endif\n",
    "c.py": "def five():\n    return 5\n",
}
MODES = ("skeleton", "outline", "summary", "full", "none", "masked", "custom")


def _notebook(code: str) -> str:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": [code]}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def made(folder: Path, mode: str, *, redact: bool | None = None) -> Request:
    """Return the request for all files in a mode, with a binary file and one that is missing."""
    (folder / "latin.py").write_bytes(FILES["latin.py"].encode("latin-1"))
    (folder / "image.png").write_bytes(b"\x89PNG\0\0")
    entry = {
        "path": "**/*",
        "view_mode": mode,
        "ast_mask": {"one": "def"} if mode == "masked" else {},
        "custom_slices": [{"start_line": 1, "end_line": 1}] if mode == "custom" else [],
    }
    config = {
        "project": {"name": "demo"},
        "files": {"base_dir": str(folder), "paths": [entry, "gone.py"]},
    }
    return request_for(open_project(config), redact=redact)


def streamed(request: Request, index: Index) -> tuple[Prompt, tuple[str, ...]]:
    stream = stream_prompt(request, index=index)
    prompt = Prompt(tuple(stream))
    index.flush()
    return prompt, stream.warnings


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("redact", [False, True])
def test_the_index_changes_nothing(mode: str, *, redact: bool, tmp_path: Path) -> None:
    """Without an index, with an empty one, and with all known: prompt and warnings are the same, to the byte (I-2)."""
    folder = project(tmp_path / "p", {**FILES, "key.py": PLANTED[0].content})
    request = made(folder, mode, redact=redact)
    kept = compose_prompt(request, index=kept_nothing())
    later = in_index(tmp_path)
    for index in (kept_nothing(), later, later):
        assert streamed(request, index) == (kept.prompt, kept.warnings)
    assert compose_prompt(request, index=later).files == kept.files


def test_an_index_in_the_project_is_no_file_of_it(tmp_path: Path) -> None:
    """The user may keep the index there: the first prompt and later ones are the same, also beside leftovers (I-2)."""
    folder = project(tmp_path / "p", {"a.py": FILES["a.py"]})
    request = made(folder, "skeleton")
    kept = compose_prompt(request, index=kept_nothing())
    path = folder / "cache/aggregate-index/index.sqlite"
    index = Index(path, limit=10**8, now=lambda: 2 * 10**18)
    for _ in range(2):
        assert streamed(request, index) == (kept.prompt, kept.warnings)
        assert path.is_file()
    path.parent.rename(folder / "cache/.aggregate-index-0123456789abcdef.tmp")
    assert streamed(request, kept_nothing()) == (kept.prompt, kept.warnings)


@pytest.mark.parametrize(
    ("name", "text", "mode"),
    [
        ("a.py", "UNCOMMON_LIMIT = 31415926\n", "skeleton"),
        ("a.py", "UNCOMMON_LIMIT = 31415926\n", "custom"),
        ("a.py", "UNCOMMON_LIMIT = 31415926\r\nB = 2", "custom"),
        ("a.py", "\n\nclass Uncommon:\n    UNCOMMON_LIMIT = 31415926\n", "masked"),
        ("a.ipynb", _notebook("UNCOMMON_LIMIT = 31415926"), "full"),
    ],
)
def test_no_index_holds_a_whole_text_in_other_words(
    name: str, text: str, mode: str, tmp_path: Path
) -> None:
    """Nor a view that is its text or shows all of it: slices and masks of everything, a notebook's cells (I-5)."""
    folder = project(tmp_path / "p", {name: text})
    entry = {
        "path": name,
        "view_mode": mode,
        "ast_mask": {"Uncommon": "def"} if mode == "masked" else {},
        "custom_slices": [{"start_line": 1, "end_line": 9}] if mode == "custom" else [],
    }
    request = request_for(
        open_project({"files": {"base_dir": str(folder), "paths": [entry, "gone.py"]}})
    )
    index = in_index(tmp_path)
    kept = compose_prompt(request, index=kept_nothing())
    assert "UNCOMMON_LIMIT = 31415926" in kept.prompt.markdown
    for _ in range(2):
        assert streamed(request, index) == (kept.prompt, kept.warnings)
    stored = b"".join(path.read_bytes() for path in (tmp_path / "index").glob("*"))
    assert b"UNCOMMON_LIMIT" not in stored


CODE = "def f{0}(x):\n    return x * {0}\n"


def requested(folder: Path, **tables: object) -> Request:
    paths = [
        {"path": "**/*.py", "view_mode": "skeleton"},
        "**/*.txt",
        {"path": "named.py", "view_mode": "outline"},
    ]
    files = {"base_dir": str(folder), "paths": paths}
    return request_for(open_project({"project": {"name": "demo"}, "files": files, **tables}))


def assert_fresh(live: LivePrompt, request: Request, changed: list[str] | None = None) -> None:
    fresh = compose_prompt(request, index=kept_nothing())
    again = live.compose(changed)
    assert again.prompt.markdown == fresh.prompt.markdown
    assert (again.prompt, again.files) == (fresh.prompt, fresh.files)
    assert (again.warnings, again.refused) == (fresh.warnings, fresh.refused)


def test_edits_are_seen_at_once(tmp_path: Path) -> None:
    """Also several within one tick of the file system's clock, of the same size, and told or not told of."""
    folder = project(
        tmp_path, {f"m{i}.py": CODE.format(i) for i in range(5)} | {"named.py": "x = 1\n"}
    )
    request = requested(folder)
    live = LivePrompt(request, index=kept_nothing())
    assert_fresh(live, request)
    for round_number in range(6):
        (folder / "m3.py").write_text(CODE.format(round_number + 10), encoding="utf-8")
        assert_fresh(live, request, ["m3.py"] if round_number % 2 else None)


def _ignore(folder: Path) -> str:
    (folder / ".gitignore").write_text("b.py\n", encoding="utf-8")
    return ".gitignore"


def _mark(folder: Path) -> str:
    (folder / ".gitattributes").write_text("b.py linguist-generated\n", encoding="utf-8")
    return ".gitattributes"


def _link_out(folder: Path) -> str:
    (folder / "b.py").unlink()
    (folder / "b.py").symlink_to(folder.parent / "outside.py")
    return "b.py"


def _link_folder_out(folder: Path) -> str:
    (folder / "d").rename(folder.parent / "e")
    (folder / "d").symlink_to(folder.parent / "e")
    return "d/c.py"


def _link_elsewhere(folder: Path) -> str:
    (folder / "named.py").unlink()
    (folder / "named.py").symlink_to("b.py")
    return "named.py"


def _make_folder(folder: Path) -> str:
    (folder / "b.py").unlink()
    project(folder, {"b.py/x.py": "x = 1\n"})
    return "b.py"


def _make_pipe(folder: Path) -> str:
    (folder / "b.py").unlink()
    os.mkfifo(folder / "b.py")
    return "b.py"


@pytest.mark.parametrize(
    "change",
    [_ignore, _mark, _link_out, _link_folder_out, _link_elsewhere, _make_folder, _make_pipe],
)
def test_a_change_that_is_no_edit_lists_the_files_again(
    change: Callable[[Path], str], tmp_path: Path
) -> None:
    """Also where a file of the prompt is told of: one that decides on others, or that a link or a folder has replaced."""
    files = {"a.py": CODE.format(1), "b.py": CODE.format(2), "d/c.py": CODE.format(3)}
    folder = project(tmp_path / "p", {**files, ".gitignore": "", ".gitattributes": ""})
    project(tmp_path, {"outside.py": "OUTSIDE = 1\n"})
    (folder / "named.py").symlink_to("a.py")
    config = '[files]\npaths = [{ path = "**", view_mode = "skeleton" }, "named.py"]\n'
    project(folder, {"manual_slop.toml": config})
    request = request_for(open_project(folder / "manual_slop.toml"))
    live = LivePrompt(request, index=kept_nothing())
    assert_fresh(live, request)
    assert_fresh(live, request, [change(folder)])
    assert "OUTSIDE" not in live.compose([]).prompt.markdown


@pytest.mark.parametrize("seed", range(3))
def test_any_changes_give_what_a_fresh_run_gives(seed: int, tmp_path: Path) -> None:
    """Files come, go, are renamed, become binary, other encodings, folders, ignored: prompt, files and warnings match."""
    choose = random.Random(seed)
    folder = project(
        tmp_path, {f"d{i % 3}/m{i}.py": CODE.format(i) for i in range(9)} | {"named.py": "x = 1\n"}
    )
    request = requested(folder)
    live = LivePrompt(request, index=kept_nothing())
    for step in range(12):
        name = choose.choice(
            ["d0/m0.py", "d1/m1.py", "new.py", "text.txt", "named.py", "d2/odd.txt"]
        )
        path = folder / name
        path.unlink(missing_ok=True)
        content = choose.choice(
            [
                CODE.format(step).encode(),
                b"\0binary",
                "def g():\n    return 1 # \u202e\n".encode(),
                "für ähnliche Öfen und Mühlen, Grüße aus Köln am Rhein".encode("latin-1") * 3,
                None,
            ]
        )
        if content is not None:
            path.write_bytes(content)
        (folder / ".gitignore").write_text(
            choose.choice(["", "d1/\n", "*.txt\n"]), encoding="utf-8"
        )
        told = [name, ".gitignore"] if choose.random() < 0.5 else None
        assert_fresh(live, request, told)


def test_what_is_told_is_all_that_is_looked_at(tmp_path: Path) -> None:
    """A caller who watches the folders is believed: another file's change waits until it is told of."""
    folder = project(
        tmp_path, {"a.py": CODE.format(1), "b.py": CODE.format(2), "named.py": "x = 1\n"}
    )
    live = LivePrompt(requested(folder), index=kept_nothing())
    live.compose()
    for name in ("a.py", "b.py"):
        (folder / name).write_text(CODE.format(7), encoding="utf-8")
        os.utime(folder / name, ns=(10**18, 10**18))
    text = live.compose(["a.py"]).prompt.markdown
    assert (text.count("def f7"), text.count("def f2")) == (1, 1)
    assert live.compose().prompt.markdown.count("def f7") == 2
