"""Edits of configurations in every layout: the value is exactly as intended, and no comment is lost (E-4)."""

import re
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tomlkit
from hypothesis import given, strategies as st

from aggregate.base import FileItem
from aggregate.panel import Draft, Surroundings, apply_edits
from aggregate.project import ContextPreset, ContextPresetManager

NAMES = ("a.py", "b.py", "src/c.py", "d#.py", "e].md")
ODD = ("[x", "]", '= "q', ", #", "a.py")
PATHS = st.sampled_from(NAMES)


@st.composite
def comments(draw: st.DrawFn, counter: list[int]) -> str:
    """Return nothing or a comment that no other one equals."""
    if draw(st.booleans()):
        return ""
    counter.append(0)
    return f"  # c{len(counter)} {draw(st.sampled_from(ODD))}"


@st.composite
def arrays(draw: st.DrawFn, items: list[str], counter: list[int]) -> str:
    """Return an array over lines or in one, with comments before, beside and behind its items."""
    if draw(st.booleans()):
        return f"[{draw(st.sampled_from(('', ' ')))}{', '.join(items)}]"
    lines = ["[" + draw(comments(counter))]
    for number, item in enumerate(items):
        if draw(st.booleans()):
            lines += [draw(comments(counter))]
        comma = "," if number + 1 < len(items) or draw(st.booleans()) else ""
        lines.append(
            f"{draw(st.sampled_from(('  ', chr(9), '')))}{item}{comma}{draw(comments(counter))}"
        )
    return "\n".join([*lines, draw(comments(counter)) + "\n]" if draw(st.booleans()) else "]"])


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Return a configuration in some layout: dotted keys, inline tables, tables of arrays, comments everywhere."""
    counter: list[int] = []

    def note() -> str:
        return draw(comments(counter))

    def line(text: str) -> list[str]:
        return [*([note().strip()] if draw(st.booleans()) else []), text + note()]

    def entry(path: str) -> str:
        form = draw(st.sampled_from(("text", "table", "masked")))
        if form == "text":
            return f'"{path}"'
        more = (
            ', view_mode = "summary"'
            if form == "table"
            else ', view_mode = "masked", ast_mask = { f = "def" }'
        )
        return f'{{ path = "{path}"{more} }}'

    paths = draw(st.lists(PATHS, unique=True, max_size=4))
    exclude = draw(st.lists(st.sampled_from(("/x", "/a.py", "*.log")), unique=True, max_size=2))
    files = [("paths", draw(arrays([entry(path) for path in paths], counter)))]
    if draw(st.booleans()):
        files.append(("exclude", draw(arrays([f'"{one}"' for one in exclude], counter))))
    top, tables = [], []
    form = draw(st.sampled_from(("table", "dotted", "aot")))
    if form == "dotted":
        top += [text for name, value in files for text in line(f"files.{name} = {value}")]
    elif form == "aot":
        tables += line("[files]")
        for path in paths:
            tables += [*line("[[files.paths]]"), *line(f'path = "{path}"')]
    else:
        tables += line("[files]")
        for name, value in files:
            tables += line(f"{name} = {value}")
    if draw(st.booleans()):
        tables += [*line("[project]"), *line('name = "p"')]
    if draw(st.booleans()):
        top += line('task = { text = "Fix it" }')
    preset = draw(st.sampled_from(("none", "table", "inline", "dotted")))
    if preset == "inline":
        top += line('context_presets = { one = { files = ["a.py"] } }')
    elif preset == "table":
        tables += [
            *line("[context_presets.one]"),
            *line("files = " + draw(arrays(['"a.py"'], counter))),
        ]
    elif preset == "dotted":
        top += line('context_presets.one.files = ["a.py"]')
    text = "\n".join([*top, *tables]) + draw(st.sampled_from(("", "\n", "\n\n")))
    return text.replace("\n", draw(st.sampled_from(("\n", "\r\n"))))


@st.composite
def edits(draw: st.DrawFn) -> dict[str, Any]:
    path = draw(PATHS)
    return draw(
        st.sampled_from(
            [
                {
                    "op": "view",
                    "paths": [path],
                    "mode": draw(st.sampled_from(("full", "summary", "skeleton", "out"))),
                },
                {
                    "op": "view",
                    "paths": list(NAMES),
                    "mode": draw(st.sampled_from(("full", "outline", "out"))),
                },
                {
                    "op": "mask",
                    "path": path,
                    "name": "f",
                    "mask": draw(st.sampled_from(("def", "sig", ""))),
                },
                {"op": "slice", "path": path, "start": 1, "end": 1},
                {"op": "task", "task": draw(st.sampled_from(("", "Another # task\nof two lines")))},
                {"op": "task", "budget": draw(st.sampled_from((None, 900, "8k")))},
                {"op": "section", "name": "beads", "on": draw(st.booleans())},
                {"op": "screenshot", "path": "p.png", "on": True},
            ]
        )
    )


def surroundings(folder: Path) -> Surroundings:
    def select(draft: Draft) -> Any:
        entries = tomllib.loads(draft.text).get("files", {}).get("paths", [])
        found = (entry if isinstance(entry, str) else entry["path"] for entry in entries)
        return {path: SimpleNamespace(by_glob="*" in path, item=FileItem(path)) for path in found}

    listed: Any = dict.fromkeys(NAMES)
    return Surroundings(
        folder / "manual_slop.toml", select, listed, lambda _: "def f():\n    return 1\n"
    )


def notes(text: str) -> set[str]:
    """Return the comments of a text by their numbers."""
    return set(re.findall(r"# (c\d+) ", text))


def as_tables(config: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration whose entries are tables: among tables an edit adds tables, among texts texts."""
    paths = config.get("files", {}).get("paths", [])
    entries = [{"path": entry} if isinstance(entry, str) else entry for entry in paths]
    return {**config, "files": {**config.get("files", {}), "paths": entries}}


def usual(text: str) -> str:
    """Return a configuration of the same value in the layout that tomlkit writes."""
    return tomlkit.dumps(tomllib.loads(text))


@given(text=documents(), edit=edits())
def test_edits_of_the_panel(
    tmp_path_factory: pytest.TempPathFactory, text: str, edit: dict[str, Any]
) -> None:
    """Each edit gives the value that it gives in the plainest layout, and keeps every comment (E-4)."""
    around = surroundings(tmp_path_factory.getbasetemp())
    intended = tomllib.loads(apply_edits(Draft(usual(text)), [edit], around).text)
    written = apply_edits(Draft(text), [edit], around).text
    assert as_tables(tomllib.loads(written)) == as_tables(intended)
    assert notes(written) == notes(text)


@given(text=documents(), name=st.sampled_from(("one", "two", "a b.c")))
def test_presets_that_are_saved(
    tmp_path_factory: pytest.TempPathFactory, text: str, name: str
) -> None:
    """Also beside inline presets and dotted ones, and in the place of another (E-4)."""
    path = tmp_path_factory.mktemp("p") / "manual_slop.toml"
    path.write_text(text, encoding="utf-8", newline="")
    preset = ContextPreset(
        name, [FileItem("a.py"), FileItem("b.py", view_mode="summary")], ["p.png"], "Says # it", 900
    )
    ContextPresetManager(path).save_preset(preset)
    written = path.read_text(encoding="utf-8")
    intended = tomllib.loads(text)
    files = ["a.py", {"path": "b.py", "view_mode": "summary"}]
    table = {"description": "Says # it", "files": files, "screenshots": ["p.png"], "budget": 900}
    intended.setdefault("context_presets", {})[name] = table
    assert tomllib.loads(written) == intended
    assert notes(written) == notes(text)
