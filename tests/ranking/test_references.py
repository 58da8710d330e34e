"""Resolution of references."""

import pytest

from aggregate.ranking import PathTable
from aggregate.ranking.files import Reference
from aggregate.ranking.reference_graph import Resolver, files_of_module
from tests.fakes.corpus import FakeCorpus

PATHS = (
    "src/click/__init__.py", "src/click/core.py", "src/click/_compat.py", "pkg/http/client.go", "pkg/http/server.go",
    "web/app/main.ts", "web/app/area.ts", "web/app/parts/index.ts", "web/lib/area.ts", "crates/fs/src/walk.rs",
    "crates/fs/src/dir/mod.rs", "java/com/acme/Gson.java", "native/list.h", "native/list.c",
)  # fmt: skip


@pytest.mark.parametrize(
    ("importer", "module", "files"),
    [
        ("tests/a.py", "click.core", ["src/click/core.py"]),
        ("src/click/core.py", "._compat", ["src/click/_compat.py"]),
        ("src/click/core.py", ".", ["src/click/__init__.py", "src/click/core.py", "src/click/_compat.py"]),
        ("main.go", "github.com/acme/tool/pkg/http", ["pkg/http/client.go", "pkg/http/server.go"]),
        ("web/app/main.ts", "./area", ["web/app/area.ts"]),
        ("web/app/main.ts", "../lib/area", ["web/lib/area.ts"]),
        ("web/app/main.ts", "./parts", ["web/app/parts/index.ts"]),
        ("crates/fs/src/lib.rs", "crate::walk", ["crates/fs/src/walk.rs"]),
        ("crates/fs/src/lib.rs", "crate::dir", ["crates/fs/src/dir/mod.rs"]),
        ("java/com/acme/App.java", "com.acme.Gson", ["java/com/acme/Gson.java"]),
        ("native/list.c", "list.h", ["native/list.h"]),
        ("native/list.c", "<stdio.h>", []),
        ("tests/a.py", "os.path", []),
        ("tests/a.py", "", []),
        ("tests/a.py", "../../../../../..", []),
        ("tests/a.py", "." * 1000, []),
    ],
)  # fmt: skip
def test_modules_are_found_as_written(importer: str, module: str, files: list[str]) -> None:
    """Module names of all forms match files or folders; unknown ones nothing."""
    corpus = FakeCorpus(dict.fromkeys(PATHS, "x\n"))
    numbers = files_of_module(PathTable(corpus.files), importer, module)
    assert [corpus.files[number].path for number in numbers] == files


def project(**texts: str) -> FakeCorpus:
    """Return a project; the keyword ``a__b`` is ``a/b.py``."""
    return FakeCorpus({f"{name.replace('__', '/')}.py": text for name, text in texts.items()})


AREA = "def area(shape):\n    sides = shape.sides\n    return sides\n"


def closely(corpus: FakeCorpus) -> Resolver:
    """Return a resolver with all files analysed."""
    known = dict(enumerate(corpus.analyses(range(len(corpus.files)), with_references=True)))
    return Resolver(corpus, PathTable(corpus.files), known)


def meant(corpus: FakeCorpus, path: str, name: str, scope: str = "") -> list[str]:
    """Return the paths of a call's targets."""
    reference = Reference(name, "call", 1, -1, scope)
    return [
        corpus.files[file].path
        for file, _ in closely(corpus).resolve(corpus.number(path), reference)
    ]


def test_the_file_itself_is_nearest() -> None:
    """A file's own definition wins."""
    corpus = project(a__one=AREA, b__two=AREA)
    assert meant(corpus, "b/two.py", "area") == ["b/two.py"]


def test_what_is_imported_is_meant() -> None:
    """An imported name, or one with an imported scope, resolves to the module."""
    imported = "from b.two import area\n\narea(1)\n"
    corpus = project(a__one=AREA, b__two=AREA, a__three=imported, a__four="from b import two\n")
    assert meant(corpus, "a/three.py", "area") == ["b/two.py"]
    assert meant(corpus, "a/four.py", "area", "two") == ["b/two.py"]


def test_then_the_folder_then_the_project() -> None:
    """Without an import: same folder, else at most three namesakes, else nothing."""
    corpus = project(a__one=AREA, b__two=AREA, a__three="area(1)\n", c__four="area(1)\n")
    assert meant(corpus, "a/three.py", "area") == ["a/one.py"]
    assert meant(corpus, "c/four.py", "area") == ["a/one.py", "b/two.py"]
    many = {f"{letter}__one": AREA for letter in "abde"}
    assert meant(project(**many, c__four="area(1)\n"), "c/four.py", "area") == []
    assert meant(corpus, "c/four.py", "nobody") == []


def test_files_that_are_not_looked_at_closely_make_a_name_unclear() -> None:
    """Namesakes in unparsed files count as ambiguous too (T-4)."""
    reference = Reference("area", "call", 1, -1, "")
    for others, expected in (("b", [(0, 0)]), ("bdef", [])):
        corpus = project(
            a__one=AREA, c__four="area(1)\n", **{f"{each}__one": AREA for each in others}
        )
        known = dict(enumerate(corpus.analyses([0, 1], with_references=True)))
        resolver = Resolver(corpus, PathTable(corpus.files), known)
        assert list(resolver.resolve(1, reference)) == expected


def test_self_means_the_same_class() -> None:
    """``self`` resolves to the method of the same class."""
    text = """\
        class Left:
            def size(self):
                width = 1
                return width

            def half(self):
                whole = self.size()
                return whole

        class Right:
            def size(self):
                width = 2
                return width
    """
    corpus = FakeCorpus({"a.py": text})
    analysis = corpus.analyses([0], with_references=True)[0]
    names = [definition.path for definition in analysis.definitions]
    reference = Reference("size", "call", 7, names.index(("Left", "half")), "self")
    resolved = closely(corpus).resolve(0, reference)
    assert [names[place] for _, place in resolved] == [("Left", "size")]
