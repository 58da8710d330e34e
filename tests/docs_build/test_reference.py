"""Reference that is made from the code: nothing public is missing."""

import re
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import click
from docs_build.reference import (
    code,
    command_reference,
    configuration_reference,
    escaped,
    python_reference,
)

import aggregate
from aggregate.cli.program import program
from aggregate.project import json_schema
from tests.processes import python


def test_every_command_and_option_is_told() -> None:
    """Each command has a heading in the order of the lists, each of its options stands below it; hidden ones do not."""
    page = command_reference()
    context = click.Context(program, info_name="aggregate", **program.context_settings)
    for name in program.list_commands(context):
        command = program.get_command(context, name)
        assert command is not None
        assert (f"\n## aggregate {name}\n" in page) is not command.hidden
    options = page.partition("\n## aggregate run\n")[2].partition("\n## ")[0]
    for option in (
        "--task",
        "--budget",
        "--diff, --since",
        "--redact / --no-redact",
        "-q, --quiet",
    ):
        assert f"\n`{option}" in options
    assert '```text\naggregate src/router README.md "fix the trailing slash"\n```' in page
    assert "\n## aggregate conduct status\n" in page


def test_every_key_is_told() -> None:
    """Each key of each table of the schema stands in a row."""
    page = configuration_reference()
    schema = json_schema()
    for name, table in schema["$defs"].items():
        section = page.partition(f"{{#{name.lower()}}}\n")[2].partition("\n## ")[0]
        for key, node in table["properties"].items():
            assert f"| {code(key)} | " in section, (name, key)
            assert escaped(node.get("description", "")) in section
    assert "## `[budget]` {#budgettable}" in page
    assert "## `[personas.NAME]` {#personatable}" in page
    assert '| `order` | `"auto"`, `"configured"`, `"relevance"`, `"edges"` | `"auto"` | ' in page


def test_every_public_name_is_told_once() -> None:
    """Each name of ``aggregate.__all__`` stands once."""
    page = python_reference()
    assert sorted(line[4:] for line in page.splitlines() if line.startswith("::: ")) == sorted(
        f"aggregate.{name}" for name in aggregate.__all__
    )


def test_text_keeps_its_characters() -> None:
    """Nothing in a help text is taken for markdown or HTML, and code may hold backticks."""
    assert escaped("a*b_c <d> [e]|`f`") == r"a\*b\_c &lt;d&gt; \[e\]\|\`f\`"
    assert (code("a"), code("a`b")) == ("`a`", "`` a`b ``")


LOADS = """
import sys
from pathlib import Path
from docs_build.build import GENERATED
from docs_build.english import message_reference
for generate in {*GENERATED.values()} - {message_reference}:
    generate()
message_reference(Path("docs_build"))  # a few modules load what all do
print(*{name.partition(".")[0] for name in sys.modules})
"""


def test_the_extra_for_the_site_suffices() -> None:
    """Each package that making the pages loads, and that not every installation has, comes with the extra ``docs``."""
    root = Path(__file__).parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {
        name: {*map(_name, needs)} for name, needs in project["optional-dependencies"].items()
    }
    needs = " ".join(project["optional-dependencies"]["docs"])
    own = re.findall(r"manual-slop\[([a-z,]+)\]", needs)
    brought = extras["docs"].union(*(extras[name] for names in own for name in names.split(",")))
    brought |= {*map(_name, project["dependencies"])}
    found = packages_distributions()
    modules = python(LOADS, folder=root).split()
    loaded = {_name(one) for module in modules for one in found.get(module, ())}
    del extras["dev"]  # what the others bring in turn
    assert loaded & set().union(*extras.values()) <= brought


def _name(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower()
