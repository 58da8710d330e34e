"""Classify files by path, and resolve paths in texts."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import takewhile

from aggregate.ranking.files.analysis import FileFacts


class PathKind(StrEnum):
    """The kind of a file by its path, such as source, test or document."""

    SOURCE = "source"
    TEST = "test"
    DOCUMENT = "documentation"
    EXAMPLE = "example"
    BENCHMARK = "benchmark"
    VENDORED = "vendored"
    GENERATED = "generated"
    SETTINGS = "settings"

    __hash__ = str.__hash__  # faster than Enum's Python code, for a hundred thousand files


_FOLDERS: Mapping[PathKind, frozenset[str]] = {
    PathKind.VENDORED: frozenset(
        """
        vendor vendored _vendor third_party thirdparty 3rdparty third-party external extern node_modules
        bower_components deps bundled
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
}  # folders by purpose; the first kind that matches any folder of a path decides
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
# First words of names, up to a dot or a hyphen. Sets, since there may be a hundred thousand names.
_DOCUMENT_NAMES = frozenset(
    """
    readme changelog changes history news authors contributing contributors licence license copying security
    code_of_conduct notice todo
    """.split()  # noqa: SIM905 - a line for each word would fill a page
)
DOCUMENT_SUFFIXES = frozenset(
    [*"123456789", "md", "mdx", "markdown", "rst", "adoc", "txt", "tex", "org"]
)
_GENERATED_ENDS = (
    ".min.js",
    ".min.css",
    ".lock",
    ".lockb",
    ".snap",
    ".map",
    ".pb.go",
    ".g.dart",
    "_pb2.py",
)
_GENERATED_NAMES = frozenset(["package-lock.json", "go.sum", "gradlew", "mvnw"])
# Bundles for browsers; in other languages a folder ``dist`` may contain sources.
_BUILT = re.compile(r"(?:^|/)dist/.*\.(?:[cm]?js|css|d\.[cm]?ts)$", re.IGNORECASE)
# Configuration of tools.
_SETTINGS_NAMES = frozenset(
    """
    makefile gnumakefile dockerfile containerfile justfile gemfile pipfile vagrantfile procfile brewfile cmakelists
    """.split()  # noqa: SIM905 - a line for each word would fill a page
)
_SETTINGS_SUFFIXES = frozenset(
    """
    toml ini cfg conf yml yaml json json5 jsonc properties env editorconfig mk
    """.split()  # noqa: SIM905 - a line for each word would fill a page
)
_REQUIREMENTS = re.compile(r"requirements[a-z0-9_.-]*\.txt$")
_MOST_CACHED = 10_000  # folders, and names, whose kinds are cached: a megabyte or two


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


@lru_cache(maxsize=_MOST_CACHED)
def _kind_of_folder(folder: str) -> PathKind | None:
    parts = frozenset(folder.lower().split("/"))
    for kind, names in _FOLDERS.items():
        if not parts.isdisjoint(names):
            return kind
    return None


@lru_cache(maxsize=_MOST_CACHED)
def _kind_of_name(name: str) -> PathKind:
    lower = name.lower()
    # Substring checks first: most names fail them, and an expression takes ten times as long.
    may_be_test = "test" in lower or "spec" in lower or "e2e" in lower or "it." in lower
    if may_be_test and (_TEST_NAME.search(lower) or _TEST_CLASS.search(name)):
        return PathKind.TEST
    first = lower.partition(".")[0].partition("-")[0]
    suffix = lower.rpartition(".")[2] if "." in lower else ""
    is_generated = lower in _GENERATED_NAMES or lower.endswith(_GENERATED_ENDS)
    is_settings = suffix in _SETTINGS_SUFFIXES or first in _SETTINGS_NAMES
    if is_settings or lower.startswith(".") or _REQUIREMENTS.match(lower):
        return PathKind.GENERATED if is_generated else PathKind.SETTINGS
    if suffix in DOCUMENT_SUFFIXES or first in _DOCUMENT_NAMES:
        return PathKind.DOCUMENT
    if is_generated:
        return PathKind.GENERATED
    if "bench" in lower and _BENCHMARK_NAME.search(lower):
        return PathKind.BENCHMARK
    return PathKind.SOURCE


class PathTable:
    """Finds files by parts of their paths, and has their kinds."""

    def __init__(self, files: Sequence[FileFacts]) -> None:
        self._files = files
        self.kinds = kinds_of(files)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        return {facts.path: number for number, facts in enumerate(self._files)}

    @cached_property
    def by_name(self) -> Mapping[str, Sequence[int]]:
        return self._by(lambda path: path.rpartition("/")[2])

    @cached_property
    def by_tail(self) -> Mapping[str, Sequence[int]]:
        """Numbers of files by the last two parts of their paths."""
        return self._by(lambda path: "/".join(path.rsplit("/", 2)[-2:]))

    @cached_property
    def by_stem(self) -> Mapping[str, Sequence[int]]:
        """Numbers of files by their names up to the first dot."""
        table: dict[str, Sequence[int]] = {}
        for name, numbers in self.by_name.items():
            stem = name.partition(".")[0] or name
            table[stem] = sorted([*table[stem], *numbers]) if stem in table else numbers
        return table

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

    def match(self, path: str) -> tuple[Sequence[int], float]:
        """Return the files with the longest common ending with ``path``, and the certainty."""
        parts = [part for part in path.split("/") if part not in ("", ".")]
        if not parts:
            return (), 0.0
        if len(parts) == 1:
            return self.by_name.get(parts[0], ()), 1.0
        numbers = self.by_tail.get("/".join(parts[-2:])) or self.by_tail.get(parts[-1], ())
        common: dict[int, int] = {}
        for number in numbers:
            file_parts = reversed(self._files[number].path.split("/"))
            pairs = zip(file_parts, reversed(parts), strict=False)
            common[number] = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        most = max(common.values(), default=0)
        longest = [number for number in numbers if common[number] == most]
        names = [
            number
            for number in longest
            if most in (len(parts), self._files[number].path.count("/") + 1)
        ]
        if names:
            return names, 1.0
        return (longest, 0.5) if most > 1 else ((), 0.0)
