"""What files are for, by their paths."""

import pytest

from aggregate.ranking.files import FileFacts
from aggregate.ranking.paths import PathKind, kinds_of


def facts(path: str, *, is_generated: bool = False) -> FileFacts:
    """Return what is known of a short text."""
    return FileFacts(path, "", False, 10, 2, 1, is_generated)


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
    """Tests and what stands beside the source are told by folders and names; parts of words are not taken for them."""
    assert kinds_of([facts(path)]) == [kind]


def test_generated_texts_are_generated_wherever_they_lie() -> None:
    """A text that says that a program wrote it counts as generated."""
    assert kinds_of([facts("src/app/core.py", is_generated=True)]) == [PathKind.GENERATED]
