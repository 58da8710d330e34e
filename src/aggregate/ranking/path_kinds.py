"""What a file is for, by its path: source or something beside it, a program or none."""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Final

from aggregate.ranking.corpus import FileFacts


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
