"""Texts outside UTF-8, Git LFS pointers and broken links."""

from pathlib import Path

import pytest

from aggregate import Composition, Task, build_file_items, compose_prompt, open_project, request_for
from aggregate.project.files import read_file


def compose(folder: Path, *, paths: list[str], budget: int | None = None) -> Composition:
    project = open_project({"files": {"base_dir": str(folder), "paths": paths}})
    task = Task("read it") if budget else None
    return compose_prompt(request_for(project, with_history=False, task=task, budget=budget))


RUSSIAN = "// Функция проверяет входные данные и возвращает результат\n"
JAPANESE = "// この関数は入力データを検証して結果を返します\n"
CZECH = "// Příliš žluťoučký kůň úpěl ďábelské ódy\n// zpráva o stavu připojení k databázi\n"
FRENCH = "// gère les données reçues, vérifie les accès où être déjà initialisé\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("# -*- coding: shift_jis -*-\nx = '合計'\n", "shift_jis"),
        ("#!/usr/bin/ruby\n# encoding: koi8-r\nx = 'Привет'\n", "koi8_r"),
        (";; -*- mode: lisp; coding: euc-jp-unix -*-\n(あ)\n", "euc_jp"),
        ("/* vim: set ts=4 fileencoding=cp1251: */\n// Привет\n", "cp1251"),
        ("あ\n# Local Variables:\n# mode: text\n# coding: euc-jp\n# End:\n", "euc_jp"),
        ("<?xml version='1.0' encoding='windows-1251'?><a>Привет</a>", "cp1251"),
        ('<html><meta charset="big5"><p>檔案</p></html>', "big5"),
        ("# coding: iso-2022-jp\nx = '日本'\n", "iso2022_jp"),
        ("# coding: latin-1\n# it’s “so”\n", "cp1252"),
    ],
)
def test_a_declared_encoding_decodes_the_file(tmp_path: Path, text: str, encoding: str) -> None:
    """A declared encoding is certain, even for short texts."""
    (tmp_path / "a").write_bytes(text.encode(encoding))
    source = read_file(tmp_path / "a")
    assert (source.text, source.is_guess, source.error) == (text, False, "")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("// it’s the author’s “note” – 25 °C\n", "cp1252"),
        (FRENCH, "cp1252"),
        (CZECH, "cp1250"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
    ],
)
@pytest.mark.parametrize("code", ["", "def f(x):\n    return x + 1\n" * 200])
def test_the_likeliest_encoding_is_taken(
    tmp_path: Path, text: str, encoding: str, code: str
) -> None:
    """Western text is windows-1252; other scripts are detected, even among code."""
    (tmp_path / "a").write_bytes((code + text).encode(encoding))
    assert read_file(tmp_path / "a").text == code + text


@pytest.mark.parametrize(
    ("data", "shown", "note"),
    [
        (b"/* 25\xf8C */\n", "/* 25øC */", "read as cp1252, characters may be wrong"),
        (
            "é ü ö ä ß\n".encode() + b"\xe9 bad\n",
            "é ü ö ä ß\n� bad",
            "invalid bytes are shown as �",
        ),
        (b"caf\xe9\n", "café", "read as cp1252, characters may be wrong"),
    ],
)
def test_an_unsure_guess_carries_a_note(tmp_path: Path, data: bytes, shown: str, note: str) -> None:
    """The file's heading and a warning report a guessed encoding."""
    (tmp_path / "a.c").write_bytes(data)
    for budget in (None, 2_000):
        composed = compose(tmp_path, budget=budget, paths=["a.c"])
        heading = next(
            line for line in composed.prompt.markdown.splitlines() if line.startswith("### File")
        )
        assert note in heading
        assert shown in composed.prompt.markdown
        assert any(note in warning for warning in composed.warnings)


def test_a_pointer_of_git_lfs_is_a_binary_file(tmp_path: Path) -> None:
    """A pointer counts as binary; a text about pointers does not."""
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 12345\n"
    (tmp_path / "weights.py").write_text(pointer, encoding="utf-8")
    (tmp_path / "about.md").write_text(f"A pointer:\n{pointer}", encoding="utf-8")
    read = read_file(tmp_path / "weights.py")
    assert (read.text, read.is_binary) == ("", True)
    assert read.error == "binary content (12,345 bytes), a Git LFS pointer"
    assert read_file(tmp_path / "about.md").text
    named = [item for item in build_file_items(tmp_path, ["*"]) if "weights" in item["content"]]
    assert [item["content"].split(":")[0] for item in named] == ["NOTE"]


def test_links_that_lead_nowhere_are_listed(tmp_path: Path) -> None:
    """Broken and circular links are warnings."""
    (tmp_path / "a.py").write_text("a = 1\n", encoding="utf-8")
    (tmp_path / "broken.py").symlink_to("gone.py")
    (tmp_path / "one.py").symlink_to("two.py")
    (tmp_path / "two.py").symlink_to("one.py")
    (tmp_path / "around").symlink_to(".")
    warnings = compose(tmp_path, paths=["**"]).warnings
    listed = {warning.partition(": ")[0] for warning in warnings if "link" in warning}
    assert listed == {"broken.py", "one.py", "two.py", "around"}


def test_invisible_characters_in_names_are_visible(tmp_path: Path) -> None:
    """A file's heading escapes invisible characters of its name."""
    (tmp_path / "a\u202egnp.py").write_text("a = 1\n", encoding="utf-8")
    markdown = compose(tmp_path, paths=["*.py"]).prompt.markdown
    assert "### File a\\u202egnp.py\n" in markdown
