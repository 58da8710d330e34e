"""Versions of what is kept: they follow from the code that computes it."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import aggregate

PACKAGE = Path(aggregate.__file__).parent
CODE = """
import sys
sys.path.insert(0, sys.argv[1])
from aggregate.project.index.kinds import code_version
print(code_version(("project.index", "base.text", "code.syntax", "base.values.files"), installed=tuple(sys.argv[2:])))
"""


def version_of(site: Path, *installed: str) -> str:
    """Return the version that a copy of the program in ``site`` computes."""
    arguments = [sys.executable, "-c", CODE, str(site), *installed]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, cwd=site.parent)
    return done.stdout.strip()


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a folder with a copy of what the version is made of, and a distribution of somebody else."""
    for name in ("base", "code", "project"):
        shutil.copytree(
            PACKAGE / name,
            tmp_path / "site" / "aggregate" / name,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    shutil.copy(PACKAGE / "__init__.py", tmp_path / "site" / "aggregate" / "__init__.py")
    grammar = tmp_path / "site" / "some_grammar"
    grammar.mkdir()
    (grammar / "__init__.py").write_text("raise SystemExit('imported')")
    (grammar / "binding.so").write_bytes(b"binary")
    (tmp_path / "site" / "some_grammar-1.0.dist-info").mkdir()
    return tmp_path / "site"


def test_a_version_is_the_same_for_the_same_code(site: Path, tmp_path: Path) -> None:
    """It does not depend on where the program lies, nor on what was compiled (rule I-1)."""
    version = version_of(site, "some_grammar")
    assert len(version) == 32
    assert version_of(site, "some_grammar") == version
    assert (site / "aggregate" / "project" / "index" / "__pycache__").is_dir()
    shutil.copytree(site, tmp_path / "copy")
    assert version_of(tmp_path / "copy", "some_grammar") == version


@pytest.mark.parametrize(
    "change",
    [
        "base/text/lines.py", "code/syntax/queries/python.scm", "base/values/files.py", "code/syntax/added.py",
        "a new version of the grammar", "a new binary of the grammar",
    ],
)  # fmt: skip
def test_a_version_changes_with_the_code(site: Path, change: str) -> None:
    """With a module, a query file, a new module, and what others have made, which is never imported (rule I-1)."""
    before = version_of(site, "some_grammar")
    if change == "a new version of the grammar":
        (site / "some_grammar-1.0.dist-info").rename(site / "some_grammar-1.1.dist-info")
    elif change == "a new binary of the grammar":
        (site / "some_grammar" / "binding.so").write_bytes(b"another")
    else:
        with (site / "aggregate" / change).open("a", encoding="utf-8") as file:
            file.write("\n")
    assert version_of(site, "some_grammar") != before


def test_a_version_leaves_out_what_takes_no_part(site: Path) -> None:
    """Other modules, and other packages, change nothing."""
    before = version_of(site, "some_grammar")
    with (site / "aggregate" / "base" / "values" / "entry.py").open("a") as file:
        file.write("\n")
    (site / "some_other-1.0.dist-info").mkdir()
    assert version_of(site, "some_grammar") == before


def test_what_cannot_be_told_has_no_version(site: Path, tmp_path: Path) -> None:
    """From a zip file, or with a package that is missing, there is no version, and so nothing is kept (rule I-1)."""
    assert version_of(site, "no_such_grammar") == ""
    archive = tmp_path / "program.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in site.rglob("*.py"):
            file.write(path, path.relative_to(site))
    assert version_of(archive) == ""
