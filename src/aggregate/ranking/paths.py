"""What paths tell: the kind of a file, and which files a module's name stands for."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import takewhile
from typing import Final, NamedTuple

from aggregate.ranking.files.analysis import FileFacts


class PathKind(StrEnum):
    """What a path says about its file's purpose."""

    SOURCE = "source"
    TEST = "test"
    DOCUMENT = "documentation"
    EXAMPLE = "example"
    BENCHMARK = "benchmark"
    VENDORED = "vendored"
    GENERATED = "generated"
    SETTINGS = "settings"


_FOLDERS: Mapping[PathKind, frozenset[str]] = {
    PathKind.VENDORED: frozenset(
        """
        vendor vendored _vendor third_party thirdparty 3rdparty third-party external extern node_modules
        bower_components deps
        """.split()  # noqa: SIM905 - a line for each word would fill a page
    ),
    PathKind.TEST: frozenset(
        """
        test tests testing testdata __tests__ __test__ spec specs e2e fixtures __fixtures__ __mocks__ __snapshots__
        test-utils testutil testutils unittests androidtest test-dts
        """.split()  # noqa: SIM905 - a line for each word would fill a page
    ),
    PathKind.GENERATED: frozenset(["amalgamated", "amalgamation", "single_include"]),
    PathKind.BENCHMARK: frozenset(["bench", "benches", "benchmark", "benchmarks", "perf"]),
    PathKind.EXAMPLE: frozenset(
        """
        example examples sample samples demo demos playground playgrounds tutorial tutorials
        """.split()  # noqa: SIM905 - a line for each word would fill a page
    ),
    PathKind.DOCUMENT: frozenset(
        """
        doc docs documentation changelog changelogs changes news site website .github
        """.split()  # noqa: SIM905 - a line for each word would fill a page
    ),
}  # folders by what projects put into them; of several on one path the first of this order decides
_TEST_NAME = re.compile(
    r"""
    ^tests?[_.-]      # test_area.py, test.js
    | [_.-](?:tests?|specs?|e2e)\.[a-z0-9]+$   # area_test.go, area.spec.ts
    | ^(?:conftest|tests?)\.[a-z0-9]+$
    """,
    re.VERBOSE,
)
_TEST_CLASS = re.compile(
    r"[a-z0-9](?:Tests?|TestCase|Spec|IT)\.(?:java|kt|kts|scala|cs|groovy|swift|php)$"
)
_BENCHMARK_NAME = re.compile(r"(?:^|[_.-])bench(?:mark)?s?(?:[_.-]|$)")
_DOCUMENT_NAME = re.compile(
    r"^(?:readme|changelog|changes|history|news|authors|contributing|contributors|licen[cs]e|copying|security"
    r"|code_of_conduct|notice|todo)(?:[.-]|$)|\.(?:md|mdx|markdown|rst|adoc|txt|tex|org|[1-9])$"
)
_GENERATED_NAME = re.compile(
    r"(?:\.min\.(?:js|css)|\.(?:lock|lockb|snap|map|pb\.go|g\.dart)|_pb2\.py|^package-lock\.json|^go\.sum)$"
)
# What programs for browsers are put together as; a folder of this name may hold sources in other languages.
_BUILT = re.compile(r"(?:^|/)dist/.*\.(?:[cm]?js|css|d\.[cm]?ts)$", re.IGNORECASE)
# What tells tools about a project; of a project that is nothing else all files are as likely as before.
_SETTINGS_NAME = re.compile(
    r"\.(?:toml|ini|cfg|conf|ya?ml|json[5c]?|properties|env|editorconfig)$"
    r"|^(?:(?:gnu)?makefile|dockerfile|containerfile|justfile|gemfile|pipfile|vagrantfile|procfile|brewfile|cmakelists)"
    r"(?:[.-]|$)|\.mk$|^requirements[a-z0-9_.-]*\.txt$|^\."
)
# Folders, and names, whose kinds a process remembers from one question to the next, in a megabyte or two.
_MOST_KNOWN = 10_000


def kinds_of(files: Iterable[FileFacts]) -> list[PathKind]:
    kinds: list[PathKind] = []
    for facts in files:
        folder, _, name = facts.path.rpartition("/")
        kind = PathKind.GENERATED if facts.is_generated else _kind_of_folder(folder)
        if kind is None:
            kind = _kind_of_name(name)
            if kind is PathKind.SOURCE and "dist/" in facts.path and _BUILT.search(facts.path):
                kind = PathKind.GENERATED
        kinds.append(kind)
    return kinds


@lru_cache(maxsize=_MOST_KNOWN)
def _kind_of_folder(folder: str) -> PathKind | None:
    parts = frozenset(folder.lower().split("/"))
    for kind, names in _FOLDERS.items():
        if not parts.isdisjoint(names):
            return kind
    return None


@lru_cache(maxsize=_MOST_KNOWN)
def _kind_of_name(name: str) -> PathKind:
    lower = name.lower()
    if _TEST_NAME.search(lower) or _TEST_CLASS.search(name):
        return PathKind.TEST
    if _SETTINGS_NAME.search(lower):
        return PathKind.GENERATED if _GENERATED_NAME.search(lower) else PathKind.SETTINGS
    if _DOCUMENT_NAME.search(lower):
        return PathKind.DOCUMENT
    if _GENERATED_NAME.search(lower):
        return PathKind.GENERATED
    if _BENCHMARK_NAME.search(lower):
        return PathKind.BENCHMARK
    return PathKind.SOURCE


# Of languages that projects are written in; what is left out counts as text, as most files without a language are.
_SUFFIXES: Final = frozenset(
    """
    .ada .adb .ads .agda .ahk .applescript .asm .astro .awk .bas .bb .bqn .bzl .capnp .cbl .clj .cljc .cljs .cmd .cob
    .coffee .comp .cr .csh .d .dpr .el .elm .elv .f .f77 .factor .fbs .fish .fnl .for .forth .frag .fsi .fsx .fth .gd
    .geom .gleam .glsl .hlsl .hrl .hx .hy .idr .janet .kk .ksh .l .lean .lfe .lisp .litcoffee .lpr .lsp .m4 .metal .mm
    .mojo .moon .nims .nu .nut .odin .pas .pony .prolog .psm1 .purs .pxd .pxi .pyx .qml .raku .rakumod .rei .rkt .roc .s
    .sml .star .sv .svh .tcl .thrift .v .vala .vapi .vb .vbs .vert .vhd .vhdl .vim .wat .wgsl .wren .xs .y .zsh
    """.split()  # noqa: SIM905 - a line for each word would fill a page
)


def program_language(facts: FileFacts) -> str:
    """Return what tells a program's language from others: its name, or its suffix; ``""`` for what is no program."""
    if facts.language:
        return facts.language if facts.is_code else ""
    start = facts.path.rfind("/") + 1
    dot = facts.path.rfind(".", start + 1)  # a name that begins with a dot has no suffix
    suffix = facts.path[dot:].lower() if dot > 0 else ""
    return suffix if suffix in _SUFFIXES else ""


class PathMatch(NamedTuple):
    """Files that a path means which somebody wrote."""

    files: Sequence[int]
    share: float  # how surely it is one of them


class PathTable:
    """Look-ups of the candidates' paths; each table is made when it is first asked for."""

    def __init__(self, files: Sequence[FileFacts]) -> None:
        self._files = files

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        return {facts.path: number for number, facts in enumerate(self._files)}

    @cached_property
    def by_name(self) -> Mapping[str, Sequence[int]]:
        return self._by(lambda path: path.rpartition("/")[2])

    @cached_property
    def by_tail(self) -> Mapping[str, Sequence[int]]:
        """The files' numbers by the last two parts of their paths, or all of one part."""
        return self._by(lambda path: "/".join(path.rsplit("/", 2)[-2:]))

    @cached_property
    def by_stem(self) -> Mapping[str, Sequence[int]]:
        """The files' numbers by the last part of their paths up to its first dot."""
        table: dict[str, list[int]] = {}
        for name, numbers in self.by_name.items():
            table.setdefault(name.partition(".")[0] or name, []).extend(numbers)
        return {stem: sorted(numbers) for stem, numbers in table.items()}

    @cached_property
    def by_folder(self) -> Mapping[str, Sequence[int]]:
        return self._by(lambda path: path.rpartition("/")[0])

    def _by(self, part: Callable[[str], str]) -> Mapping[str, Sequence[int]]:
        table: dict[str, list[int]] = {}
        for number, facts in enumerate(self._files):
            table.setdefault(part(facts.path), []).append(number)
        return table

    @cached_property
    def folders_by_name(self) -> Mapping[str, Sequence[str]]:
        table: dict[str, list[str]] = {}
        for folder in self.by_folder:
            table.setdefault(folder.rpartition("/")[2], []).append(folder)
        return table

    def folder(self, number: int) -> str:
        return self._files[number].path.rpartition("/")[0]

    def meant_by(self, written: str) -> PathMatch:
        """Return the files whose paths end like ``written``, absolute or relative, by whole parts."""
        parts = [part for part in written.split("/") if part not in ("", ".")]
        if not parts:
            return PathMatch((), 0.0)
        if len(parts) == 1:
            return PathMatch(self.by_name.get(parts[0], ()), 1.0)
        numbers = self.by_tail.get("/".join(parts[-2:])) or self.by_tail.get(parts[-1], ())
        common: dict[int, int] = {}
        for number in numbers:
            ours = reversed(self._files[number].path.split("/"))
            pairs = zip(ours, reversed(parts), strict=False)
            common[number] = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        most = max(common.values(), default=0)
        longest = [number for number in numbers if common[number] == most]
        whole = [
            number
            for number in longest
            if most in (len(parts), self._files[number].path.count("/") + 1)
        ]
        if whole:
            return PathMatch(whole, 1.0)
        return PathMatch(longest, 0.5) if most > 1 else PathMatch((), 0.0)


# First parts that name no folder of their own.
_ROOTS = frozenset({"crate", "self", "super", "std", "@", "~", "src"})
_LONGEST = 400
_MOST_FILES = 200  # files of a package: a use of one with more says nothing
# Leading parts that are no folders of the project, such as ``github.com/owner/name`` and a version.
_MOST_DROPPED = 4
_SEPARATORS = re.compile(r"::|[/\\]|\.(?=[A-Za-z_*])")
_RELATIVE = re.compile(r"\.{1,2}/|\.+(?=[A-Za-z_]|$)")


def files_of_module(paths: PathTable, importer: str, module: str) -> Sequence[int]:
    r"""Return the numbers of the files that ``module`` means in ``importer``; of a package, the files of its folder."""
    module = module[:_LONGEST].strip("\"'<>; ")
    if not module:
        return ()
    folder = importer.rpartition("/")[0]
    if _RELATIVE.match(module):
        if "/" not in module and module not in (".", ".."):
            name = module.lstrip(".")
            for _ in range(len(module) - len(name) - 1):
                folder = folder.rpartition("/")[0]
            module = name.replace(".", "/")
        return _at(paths, _joined(folder, module))
    if "/" in module or module.endswith(".h"):  # C looks beside the file first
        beside = _at(paths, _joined(folder, module))
        if beside:
            return beside
    # First as a whole, then without its first parts.
    is_dotted = "/" not in module and "::" not in module and "\\" not in module
    parts = [part for part in _SEPARATORS.split(module) if part and part not in _ROOTS]
    most = 0 if is_dotted else min(_MOST_DROPPED, len(parts) - 1)
    found = (_ending(paths, parts[dropped:]) for dropped in range(most + 1))
    return next(filter(None, found), ())


def _joined(folder: str, relative: str) -> str:
    parts = folder.split("/") if folder else []
    for part in relative.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _at(paths: PathTable, path: str) -> Sequence[int]:
    # With or without its suffix, else those that stand for the folder.
    number = paths.numbers.get(path)
    if number is not None:
        return (number,)
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    same = [file for file in paths.by_stem.get(stem, ()) if paths.folder(file) == folder]
    return same or _package(paths, path)


def _package(paths: PathTable, folder: str) -> Sequence[int]:
    files = paths.by_folder.get(folder, ())
    return files if len(files) <= _MOST_FILES else ()


def _ending(paths: PathTable, parts: Sequence[str]) -> Sequence[int]:
    # The file's suffix is free.
    if not parts:
        return ()
    *folders, last = parts
    tail = "/".join(folders)
    for number_list in (paths.by_stem.get(last, ()), paths.by_name.get(last, ())):
        files = [file for file in number_list if _ends(paths.folder(file), tail)]
        if files:
            return files if len(files) <= _MOST_FILES else ()
    whole = "/".join(parts)
    for folder in paths.folders_by_name.get(last, ()):
        if _ends(folder, whole):
            return _package(paths, folder)
    return ()


def _ends(folder: str, tail: str) -> bool:
    return not tail or folder == tail or folder.endswith(f"/{tail}")
