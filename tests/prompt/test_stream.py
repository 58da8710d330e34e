"""A prompt as a stream: the same as one that is held in memory, whatever is known."""

import json
from pathlib import Path

import pytest

from aggregate import Prompt, compose_prompt, open_project, request_for, stream_prompt
from aggregate.project.index import Index
from aggregate.prompt.asking import Request
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
    cached = compose_prompt(request, index=later)
    assert cached.records == kept.records
    secrets = [[(file.source.secrets, file.note) for file in each.files] for each in (cached, kept)]
    assert secrets[0] == secrets[1]


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
