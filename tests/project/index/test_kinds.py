"""Versions of cached results, derived from the code."""

import shutil
import zipfile
from pathlib import Path

import pytest

import aggregate
from tests.processes import python

PACKAGE = Path(aggregate.__file__).parent
CODE = """
import sys
sys.path.insert(0, sys.argv[1])
from aggregate.project.index import code_version
print(code_version(("project.index", "base.text", "code.syntax", "base.files"), installed=tuple(sys.argv[2:])))
"""


def version_of(site: Path, *installed: str) -> str:
    """Return the version computed by a copy of the program in ``site``."""
    return python(CODE, str(site), *installed, folder=site.parent).strip()


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a folder with a copy of the versioned code, and a foreign distribution."""
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
    """Neither the program's folder nor compiled files matter (rule I-1)."""
    version = version_of(site, "some_grammar")
    assert len(version) == 32
    assert version_of(site, "some_grammar") == version
    assert (site / "aggregate" / "project" / "index" / "__pycache__").is_dir()
    shutil.copytree(site, tmp_path / "copy")
    assert version_of(tmp_path / "copy", "some_grammar") == version


def test_a_version_changes_with_what_takes_part(site: Path) -> None:
    """Its modules, query files and dependencies change the version, without an import (I-1)."""
    versions = [version_of(site, "some_grammar")]
    for change in ("text/lines.py", "files.py"):
        with (site / "aggregate/base" / change).open("a", encoding="utf-8") as file:
            file.write("\n")
        versions.append(version_of(site, "some_grammar"))
    for change in ("queries/python.scm", "added.py"):
        with (site / "aggregate/code/syntax" / change).open("a", encoding="utf-8") as file:
            file.write("\n")
        versions.append(version_of(site, "some_grammar"))
    (site / "some_grammar-1.0.dist-info").rename(site / "some_grammar-1.1.dist-info")
    versions.append(version_of(site, "some_grammar"))
    (site / "some_grammar" / "binding.so").write_bytes(b"another")
    versions.append(version_of(site, "some_grammar"))
    assert len(set(versions)) == len(versions) == 7
    with (site / "aggregate" / "project" / "presets.py").open("a") as file:
        file.write("\n")
    (site / "some_other-1.0.dist-info").mkdir()
    assert version_of(site, "some_grammar") == versions[-1]


def test_what_cannot_be_told_has_no_version(site: Path, tmp_path: Path) -> None:
    """In a zip file, or without a package, there is no version and no cache (rule I-1)."""
    assert version_of(site, "no_such_grammar") == ""
    archive = tmp_path / "program.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in site.rglob("*.py"):
            file.write(path, path.relative_to(site))
    assert version_of(archive) == ""
