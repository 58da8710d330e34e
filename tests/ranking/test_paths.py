"""Kinds of files by path, and look-ups of paths."""

import pytest

from aggregate.ranking import PathKind, PathTable, kinds_of
from aggregate.ranking.files import FileFacts
from tests.fakes.corpus import FakeCorpus


def facts(path: str, *, is_generated: bool = False) -> FileFacts:
    """Return the facts of a short text."""
    return FileFacts(path, "", False, 10, 1, is_generated)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("src/app/core.py", PathKind.SOURCE),
        ("src/latest.py", PathKind.SOURCE),
        ("src/contest/entry.go", PathKind.SOURCE),
        ("lib/Inspector.java", PathKind.SOURCE),
        ("tests/app.py", PathKind.TEST),
        ("src/core_test.go", PathKind.TEST),
        ("src/core.spec.ts", PathKind.TEST),
        ("src/test_core.py", PathKind.TEST),
        ("src/CoreTest.java", PathKind.TEST),
        ("src/__tests__/core.tsx", PathKind.TEST),
        ("conftest.py", PathKind.TEST),
        ("docs/conf.py", PathKind.DOCUMENT),
        ("README.md", PathKind.DOCUMENT),
        ("CHANGES.rst", PathKind.DOCUMENT),
        ("LICENSE", PathKind.DOCUMENT),
        ("examples/hello.py", PathKind.EXAMPLE),
        ("benches/parse.rs", PathKind.BENCHMARK),
        ("src/parse_bench.rs", PathKind.BENCHMARK),
        ("vendor/lib/lib.go", PathKind.VENDORED),
        ("third_party/tests/x.c", PathKind.VENDORED),
        ("include/fmt/bundled/core.h", PathKind.VENDORED),
        ("dist/app.min.js", PathKind.GENERATED),
        ("dist/app.js", PathKind.GENERATED),
        ("packages/core/dist/esm/index.d.ts", PathKind.GENERATED),
        ("cmd/dist/build.go", PathKind.SOURCE),
        ("src/distance/dist.js", PathKind.SOURCE),
        ("single_include/lib/all.hpp", PathKind.GENERATED),
        ("include/lib/part.hpp", PathKind.SOURCE),
        ("package-lock.json", PathKind.GENERATED),
        ("api/service.pb.go", PathKind.GENERATED),
    ],
)
def test_paths_tell_what_files_are_for(path: str, kind: PathKind) -> None:
    """Folders and whole words of names decide the kind."""
    assert kinds_of([facts(path)]) == [kind]


def test_generated_texts_are_generated_wherever_they_lie() -> None:
    """A text with a generator's mark counts as generated."""
    assert kinds_of([facts("src/app/core.py", is_generated=True)]) == [PathKind.GENERATED]


PATHS = ("src/app/core.py", "lib/app/core.py", "core.py", "web/index.js")


@pytest.mark.parametrize(
    ("written", "files", "share"),
    [
        ("src/app/core.py", ["src/app/core.py"], 1.0),
        ("app/core.py", ["src/app/core.py", "lib/app/core.py"], 1.0),
        ("/home/me/src/app/core.py", ["src/app/core.py"], 1.0),
        ("./src/app/core.py", ["src/app/core.py"], 1.0),
        ("/usr/lib/app/core.py", ["lib/app/core.py"], 1.0),
        ("/opt/app/core.py", ["src/app/core.py", "lib/app/core.py"], 0.5),
        ("/opt/other/core.py", ["core.py"], 1.0),
        ("/opt/other/index.js", [], 0.0),
        ("core.py", ["src/app/core.py", "lib/app/core.py", "core.py"], 1.0),
        ("", [], 0.0),
        ("///", [], 0.0),
    ],
)
def test_written_paths_mean_the_longest_common_end(
    written: str, files: list[str], share: float
) -> None:
    """A written path matches the files with the longest common suffix (rule T-2)."""
    corpus = FakeCorpus(dict.fromkeys(PATHS, "x\n"))
    numbers, certainty = PathTable(corpus.files).match(written)
    assert [corpus.files[number].path for number in numbers] == files
    assert certainty == share
