"""Which names of Universal Ctags are missing from outlines of real files?

``python -m simulation names CLONE...`` reads at most ``--files`` files of each language, evenly spread over the sorted
paths of the clones' work trees, without generated, vendored, example and documentation files. A name counts as listed
if the outline has a definition of that name at most two lines away. Definitions local to a function are not compared:
outlines leave them out. It needs ``ctags`` in ``PATH``. With ``PYTHONPATH`` set to another tree's ``src`` it measures
that tree.
"""

import json
import re
import subprocess
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from aggregate.base.errors import DeadlineError
from aggregate.code.syntax import LanguageKind, language_of, read_module
from simulation.task_commits import kind_of
from simulation.trees import git

NEAR = 2
"""Lines between a name of ctags and the definition's head."""
FUNCTIONS = {"function", "func", "method", "methodSpec", "generator"}
KINDS = FUNCTIONS | {"class", "struct", "interface", "enum", "namespace"}
"""Kinds of ctags that are compared; the others are variables, macros, imports and members."""
_GENERATED = re.compile(r"\b(?:do not edit|@generated|automatically generated)\b", re.IGNORECASE)
_NAME = re.compile(r"^(?!operator\b)~?\w+(?:[.:]\w*)*$")  # not of lambdas and operators
_HEAD = 1_000  # characters searched for a generator's notice


class Name(NamedTuple):
    """A name in a file."""

    text: str
    line: int


def main(parser: ArgumentParser) -> None:
    """Print a row for each language, then examples."""
    parser.add_argument("clones", type=Path, nargs="+", metavar="CLONE")
    parser.add_argument("--files", type=int, default=300, help="of each language (default 300)")
    parser.add_argument("--show", type=int, default=0, help="list so many missing names of each")
    options = parser.parse_args()
    print("| language | files | ctags names | missing | share |\n|---|--:|--:|--:|--:|")
    examples: list[str] = []
    for language, paths in sorted(files_by_language(options.clones).items()):
        paths = paths[:: -(-len(paths) // options.files)]  # noqa: PLW2901
        names = ctags_names(paths)
        missing = [(path, name) for path in paths for name in missing_names(path, names[path])]
        count = sum(map(len, names.values()))
        share = f"{100 * len(missing) / count:.2f} %" if count else "-"
        print(f"| {language} | {len(paths)} | {count:,} | {len(missing):,} | {share} |", flush=True)
        shown = missing[:: max(len(missing) // max(options.show, 1), 1)][: options.show]
        examples += [f"{path}:{name.line}: {name.text}" for path, name in shown]
    print("\n".join(examples))


def files_by_language(clones: list[Path]) -> dict[str, list[Path]]:
    """Return the source files of some clones by their language."""
    files: dict[str, list[Path]] = defaultdict(list)
    for clone in clones:
        for listed in sorted(git(clone, "ls-files", "-z").decode().split("\0")):
            kind, path = kind_of(listed), clone / listed
            if not kind.is_code or kind.is_auxiliary or not path.is_file():
                continue
            text = _text(path)
            language = language_of(listed, text)
            if (
                language
                and language.kind is LanguageKind.CODE
                and not _GENERATED.search(text[:_HEAD])
            ):
                files[language.name].append(path)
    return files


def ctags_names(paths: list[Path]) -> dict[Path, set[Name]]:
    """Return the names of each file according to ctags, without those local to functions."""
    options = ["--output-format=json", "--fields=+nKsl-P", "--extras=-{anonymous}", "--sort=no"]
    output = subprocess.run(
        ["ctags", *options, "-f", "-", "-L", "-"],
        input="\n".join(map(str, paths)).encode(),
        capture_output=True,
        check=True,
    ).stdout
    names: dict[Path, set[Name]] = {path: set() for path in paths}
    local: set[tuple[str, str]] = set()
    for line in output.decode("utf-8", "replace").splitlines():
        tag = json.loads(line)
        path, scope = tag["path"], tag.get("scope", "").replace("::", ".")
        if tag["language"] == "Python" and tag["kind"] == "member":
            tag["kind"] = "method"
        if tag.get("scopeKind") in FUNCTIONS | {"member"} or (path, scope) in local:
            local.add((path, f"{scope}.{tag['name']}".lstrip(".")))
        elif tag["kind"] in KINDS and _NAME.search(tag["name"]):
            names[Path(path)].add(Name(tag["name"], tag["line"]))
    return names


def missing_names(path: Path, names: set[Name]) -> Iterator[Name]:
    """Yield the names that the file's outline does not list near their line."""
    lines: dict[str, list[range]] = defaultdict(list)
    for text, near in _outline(path):
        lines[_plain(text)].append(near)
    for name in sorted(names, key=lambda name: name.line):
        if not any(name.line in near for near in lines[_plain(name.text)]):
            yield name


def _outline(path: Path) -> Iterator[tuple[str, range]]:
    """Yield the names of an outline, with the lines from two before to two behind each head."""
    text = _text(path)
    language = language_of(str(path), text)
    if language is None:
        return
    try:
        module = read_module(text, language)
    except DeadlineError:
        return
    for definition in module.definitions:
        head = module.source.count(b"\n", definition.start, definition.header_end)
        near = range(definition.first_line - NEAR, definition.first_line + head + NEAR + 1)
        for name in (*definition.path[-1:], *definition.aliases):
            yield name, near


def _plain(name: str) -> str:
    """Return a name without what qualifies it, and a selector's first word."""
    return name.partition(":")[0].rpartition(".")[2]


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")
