"""The doors of rooms and of their parts: what other rooms take stands in an ``__init__``, once for each reader."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import aggregate

IMPORT = re.compile(r"^ *from (aggregate\.[\w.]+) import ", re.MULTILINE)
SOURCE = Path(aggregate.__file__).parents[1]
DOORS = sorted(
    path.parent
    for path in (SOURCE / "aggregate").rglob("__init__.py")
    if "base.door import" in path.read_text(encoding="utf-8")
)


def imports(path: Path) -> Iterator[ast.ImportFrom]:
    """Yield what a module takes from others by name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node


@pytest.mark.parametrize("folder", DOORS, ids=lambda folder: folder.relative_to(SOURCE).as_posix())
def test_a_door_gives_what_type_checkers_see(folder: Path) -> None:
    """Each name that stands for type checkers is given when it is asked for, also where a module is called like it."""
    package = import_module(".".join(folder.relative_to(SOURCE).parts))
    tree = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    table = next(node for node in ast.walk(tree) if isinstance(node, ast.Dict))
    offered = {
        (f"{package.__name__}.{module}", name)
        for module, names in ast.literal_eval(table).items()
        for name in names.split()
    }
    seen = {
        (node.module, each.name) for node in imports(folder / "__init__.py") for each in node.names
    }
    assert offered
    for module, name in offered:
        assert seen & {(module, name), (module, "*")}
        assert getattr(package, name) is getattr(import_module(module), name)
    assert {(module, name) for module, name in seen if name != "*"} - offered == {
        ("aggregate.base.door", "TYPE_CHECKING"),
        ("aggregate.base.door", "door"),
    }
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = package.nothing


# Parts of one module, which needs no door before it.
ONE_MODULE = (
    "agents.limits",
    "agents.scripted",
    "base.addresses",
    "base.disk.databases",
    "base.disk.programs",
    "base.disk.reading",
    "base.disk.witnesses",
    "base.disk.writing",
    "base.files",
    "base.json_forms",
    "base.messages",
    "base.nearest_names",
    "base.task_budget",
    "base.values",
    "project.presets",
    "project.witnessed",
    "project.tables",
    "project.toml_text",
    "project.watching",
    "prompt.document",
    "prompt.files.file_sizes",
    "prompt.files.markdown_and_xml",
    "prompt.output.numbered_output",
    "prompt.output.references",
    "prompt.asking.results",
    "prompt.output.source_map",
    "prompt.sections.subagent_results",
    "prompt.sections.discussion_section",
    "sending.models",
)


def test_rooms_take_from_one_another_through_doors_alone() -> None:
    """No module imports a module of another room, but a door, a part of one module, or what stands before all doors."""
    before = ["base.errors", "base.monitor", "base.door", *ONE_MODULE]
    behind = [
        (path.relative_to(SOURCE).as_posix(), module)
        for path in sorted((SOURCE / "aggregate").rglob("*.py"))
        for module in IMPORT.findall(path.read_text(encoding="utf-8"))
        if path.relative_to(SOURCE).parts[1] not in (module.split(".")[1], "__init__.py")
        and not (SOURCE / module.replace(".", "/")).is_dir()
        and module.removeprefix("aggregate.") not in before
    ]
    assert behind == []
