"""Jupyter notebooks: their cells in each view, and where each line of them stands in the file."""

import json
from typing import Any

import pytest
from hypothesis import example, given, strategies as st
from tests.viewing import viewed

from aggregate import View, ViewMode

MODES = [ViewMode.FULL, ViewMode.SKELETON, ViewMode.OUTLINE, ViewMode.SUMMARY, ViewMode.MASKED]
IMAGE = {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo" * 400}, "metadata": {}}
PYTHON = {"kernelspec": {"name": "python3", "language": "python"}}


def cell(kind: str, source: object, **more: object) -> dict[str, Any]:
    """Return a cell."""
    return {"cell_type": kind, "metadata": {}, **more, "source": source}


def notebook(*cells: object, metadata: object = None, **more: object) -> str:
    """Return the text of a notebook of format 4, as Jupyter writes it."""
    whole = {"cells": cells, "metadata": metadata or PYTHON, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps({**whole, **more}, indent=1, ensure_ascii=False) + "\n"


def lines_of(text: str) -> list[str]:
    """Return a source as notebooks hold it: lines with their ends."""
    return text.splitlines(keepends=True)


SAMPLE = notebook(
    cell("markdown", lines_of("# Houses\n\nPrices in *California*.\n\n```\n# no heading\n```")),
    cell("code", lines_of("import pandas as pd\n%matplotlib inline\n!pip list"), outputs=[]),
    cell("markdown", "## Load"),
    cell(
        "code",
        lines_of(
            'def load(path):\n    """Read it."""\n    data = pd.read_csv(path)\n    return data'
        ),
        outputs=[],
    ),
    cell("code", lines_of("houses = load(\n    'a.csv'\n)\nhouses.plot()"), outputs=[IMAGE, IMAGE]),
    cell("code", lines_of("%%bash\ndef() { no python"), outputs=[]),
    cell("raw", "as it is"),
)

FULL = """\
# %% [markdown]
# # Houses
#
# Prices in *California*.
#
# ```
# # no heading
# ```

# %%
import pandas as pd
%matplotlib inline
!pip list

# %% [markdown]
# ## Load

# %%
def load(path):
    \"\"\"Read it.\"\"\"
    data = pd.read_csv(path)
    return data

# %% 2 outputs left out, 9 KB
houses = load(
    'a.csv'
)
houses.plot()

# %%
%%bash
def() { no python

# %% [raw]
# as it is
"""


def view(text: str, mode: ViewMode, path: str = "a.ipynb", **mask: str) -> View:
    """Return a view of a notebook, which must not fail."""
    return viewed(path, text, mode, mask=mask)


def test_full_shows_the_cells_as_a_script() -> None:
    """Code and prose are shown in the percent format, outputs by their number and size (M-31)."""
    shown = view(SAMPLE, ViewMode.FULL)
    assert shown.text == FULL
    assert shown.language == "python"


def test_a_skeleton_cuts_the_bodies_of_functions() -> None:
    """Of a notebook's skeleton only the bodies are gone, magic and other languages are no code (M-33)."""
    body = "    data = pd.read_csv(path)\n    return data\n"
    assert view(SAMPLE, ViewMode.SKELETON).text == FULL.replace(body, "    ...\n")


def test_an_outline_has_headings_cells_and_definitions() -> None:
    """Rows stand by the lines of the notebook's file; a heading reaches to the next of its level (M-34)."""
    shown = view(SAMPLE, ViewMode.OUTLINE)
    numbers, rows = zip(*(line.split(maxsplit=1) for line in shown.text.splitlines()), strict=True)
    assert rows == (
        "# Houses",
        "cell 2: import pandas as pd (3 lines)",
        "## Load",
        "def load(path)",
        "cell 5: houses = load( (4 lines, 2 outputs left out)",
        "cell 6: %%bash (2 lines)",
    )
    source = SAMPLE.split("\n")
    load = int(numbers[3].split("-")[0])
    assert source[load - 1].strip() == '"def load(path):\\n",'
    assert [span.source_start for span in shown.spans] == [int(n.split("-")[0]) for n in numbers]


def test_a_summary_tells_what_the_notebook_is_about() -> None:
    """The digest has the cells, what is left out, the first prose, imports, headings and definitions (M-32)."""
    assert view(SAMPLE, ViewMode.SUMMARY).text == (
        "jupyter notebook, python, 7 cells (4 code, 2 markdown, 1 raw), 2 outputs left out, 9 KB, 1 function\n"
        "Prices in *California*.\n"
        "imports: pandas\n"
        "constants: houses\n"
        "# Houses\n"
        "  ## Load\n"
        "functions: load"
    )


def test_masks_pick_definitions_headings_and_cells() -> None:
    """Symbols of a notebook are its definitions, its headings and ``cell N``; spans lead to its file (M-35)."""
    shown = view(SAMPLE, ViewMode.MASKED, load="sig", **{"cell 5": "def"})
    assert "def load(path):\n" in shown.text + "\n"
    assert "houses = load(\n    'a.csv'\n)\nhouses.plot()" in shown.text
    assert "read_csv" not in shown.text
    line = shown.text.split("\n").index("houses.plot()") + 1
    at = shown.source_line(line)
    assert at is not None
    assert '"houses.plot()"' in SAMPLE.split("\n")[at - 1]
    assert view(SAMPLE, ViewMode.MASKED, nothing="def").problems == (
        "ERROR: symbol not found: nothing in a.ipynb",
    )


def test_slices_are_lines_of_the_file() -> None:
    """A slice of a notebook is picked from the file's own lines, as in any other file (M-37)."""
    slices = ({"start_line": 1, "end_line": 2},)
    shown = viewed("a.ipynb", SAMPLE, ViewMode.CUSTOM, slices=slices)
    assert shown.text.split("\n")[1:] == SAMPLE.split("\n")[:2]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (notebook(cell("code", ["a", "b\r\n", "c"]), metadata={"language_info": {"name": "Rust"}}), "// %%\nab\nc\n"),
        (
            notebook(
                cell("markdown", f"![x](data:image/png;base64,{'A' * 3000})", attachments={"a": 1})
            ),
            "# %% [markdown] attachments left out, 17 bytes\n# ![x](data:image/png;base64,[3 KB left out])\n",
        ),
        (notebook(cell("code", "a\ud800")).replace("\ud800", "\\ud800"), "# %%\na\\ud800\n"),
        (notebook(cell("code", "a\u200bb \U000e0041")).replace("\u200b", "\\u200b"), "# %%\na\\u200bb \\U000e0041\n"),
    ],
    ids=["joined pieces", "pictures in prose", "half a pair", "invisible"],
)  # fmt: skip
def test_kinds_of_notebooks(text: str, shown: str) -> None:
    """Other languages and odd characters have their cells shown too (M-31)."""
    assert view(text, ViewMode.FULL).text == shown


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1, 2, {"b": null}], "long": "text"}', "[1, 2]", "12", '{"cells": 3, "nbformat": 4}', "",
    ],
)  # fmt: skip
def test_json_that_is_no_notebook_is_shown_as_json(text: str, mode: ViewMode) -> None:
    """A file that is called like a notebook and is none is shown like any JSON (M-31, M-33)."""
    assert view(text, mode) == view(text, mode, "a.json")


@pytest.mark.parametrize("cut", [len(SAMPLE) // 2, len(SAMPLE) - 40])
def test_a_damaged_notebook_says_so(cut: int) -> None:
    """What cannot be read as cells is shown as JSON, with the line in which it is damaged (M-5)."""
    text = SAMPLE[:cut]
    assert view(text, ViewMode.FULL).text == text
    shown = view(text, ViewMode.SUMMARY)
    assert len(shown.problems) == 1
    assert shown.problems[0].startswith("no notebook can be read from it, line ")
    assert shown.text.startswith(f"NOTE: {shown.problems[0]}\n")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "text",
    [
        '{"cells": ' + "[" * 5_000,
        '{"cells": [' + '{"cell_type": "code", "outputs": ' + "[" * 5_000 + "]" * 5_000 + "}]}",
        '{"cells": [{"source": "' + "\\u0061" * 60_000 + '"}]}',
        '{"cells": [{"source": [' + '"a",' * 5_000 + '"b"]}]}',
        '{"cells": [' + '{"source": "x"},' * 1_000 + "{}]}",
        '{"cells": [{"source": "' + "\\" * 80_000,
        '{"cells": [{"source": "def f():\\n' + "  if a:\\n" * 2_000 + '"}]}',
    ],
    ids=["open", "deep", "escapes", "pieces", "cells", "backslashes", "bad code"],
)
def test_hostile_notebooks_are_shown(text: str, mode: ViewMode) -> None:
    """Nesting, sizes and damage of any kind end in a view (M-5)."""
    assert view(text, mode).text


SOURCES = st.text(st.sampled_from('ab "\\#%\n\r\t:é\u2028\U0001f600'), max_size=30)


@given(
    cells=st.lists(
        st.tuples(st.sampled_from(["code", "markdown", "raw"]), SOURCES, st.booleans()),
        min_size=1,
        max_size=5,
    ),
    indent=st.sampled_from([None, 0, 1, 2]),
    is_ascii=st.booleans(),
)
@example(cells=[("code", "a\n\nb", True)], indent=1, is_ascii=True)
def test_each_line_leads_to_its_line_of_the_file(
    cells: list[tuple[str, str, bool]], indent: int | None, is_ascii: bool
) -> None:
    """A line that shows a line of a cell maps to a line of the file that holds it (M-31)."""
    values = [
        cell(kind, lines_of_cell(source) if is_list else source) for kind, source, is_list in cells
    ]
    whole = {"cells": values, "metadata": {"padding": "x" * 500, **PYTHON}, "nbformat": 4}
    text = json.dumps(whole, indent=indent, ensure_ascii=is_ascii)
    shown = view(text, ViewMode.FULL)
    file_lines = text.split("\n")
    for number, line in enumerate(shown.text.split("\n"), start=1):
        at = shown.source_line(number)
        written = line.removeprefix("# ") if at else ""
        candidates = [json.dumps(t, ensure_ascii=is_ascii)[1:-1] for t in (line, written)]
        if at and not line.startswith("# %%") and line != "#":
            assert any(each in file_lines[at - 1] for each in candidates)
    count = sum(
        len(source.removesuffix("\n").split("\n")) if source else 0 for _, source, _ in cells
    )
    mapped = sum(shown.source_line(n) is not None for n in range(1, shown.text.count("\n") + 1))
    assert mapped == count + len(cells)


def lines_of_cell(source: str) -> list[str]:
    r"""Return a source as Jupyter splits it, at ``\n`` only."""
    return [line for line in source.replace("\n", "\n\0").split("\0") if line]
