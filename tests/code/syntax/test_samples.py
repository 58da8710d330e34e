"""A sample of each language: skeleton, outline, digest and picked symbols, text in and text out.

``samples/<language>.txt`` holds the file's name and text, with what the skeleton cuts out between ``⟦`` and ``⟧``, and
below it what each view shows.
"""

import pytest

from aggregate.code.syntax import LanguageKind, fence_tag, language_of
from tests.viewing import (
    SAMPLES,
    check_skeleton,
    masked_of,
    outline_of,
    sample,
    skeleton_of,
    summary_of,
)

SLOW = {"tsx"}
"""Languages whose patterns take long to compile, and are those of another one here."""
NAMES = [
    pytest.param(path.stem, marks=pytest.mark.slow if path.stem in SLOW else ())
    for path in sorted(SAMPLES.glob("*.txt"))
]


@pytest.mark.parametrize("name", NAMES)
def test_every_view(name: str) -> None:
    """Skeleton, outline, digest and masks of a sample, with each grammar and its patterns loaded once.

    Bodies are cut out, wherever they stand; all else stays byte for byte, line by line (M-33). The outline has a row
    per definition, nested; the digest names what the file is made of (M-32, M-34). A symbol stands for all its
    overloads, by name or path; a local name is no symbol (M-35, M-X15).
    """
    shown = sample(name)
    language = language_of(shown.path, shown.text)
    assert language is not None
    assert language.name == name
    check_skeleton(shown.path, shown.text)
    if language.kind is LanguageKind.CODE:
        assert skeleton_of(shown.path, shown.text) == shown.cut(language.placeholder)
    assert outline_of(shown.path, shown.text) == shown.views["outline"]
    assert summary_of(shown.path, shown.text) + "\n" == shown.views["summary"]
    for mask, text in shown.masks:
        assert masked_of(shown.path, shown.text, mask) + "\n" == text, mask


@pytest.mark.parametrize("name", NAMES)
def test_every_line_end(name: str) -> None:
    """Line ends of old Macintosh and Windows files change no name and no line number (M-33, M-34, M-X18)."""
    shown = sample(name)
    language = language_of(shown.path, shown.text)
    assert language is not None
    old, windows = (shown.text.replace("\n", line_end) for line_end in ("\r", "\r\n"))
    outline, skeleton = outline_of(shown.path, shown.text), skeleton_of(shown.path, shown.text)
    assert outline_of(shown.path, old) == outline_of(shown.path, windows) == outline
    assert skeleton_of(shown.path, old) == skeleton
    if language.kind is LanguageKind.CODE:  # other skeletons depend on the text's length
        assert skeleton_of(shown.path, windows) == skeleton.replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("line", "language"),
    [
        ("#!/usr/bin/env python3", "python"),
        ("#!/usr/bin/python3.11 -E", "python"),
        ("#! /bin/bash -eu", "bash"),
        ("#!/bin/sh", "bash"),
        ("#!/usr/bin/env -S node --no-warnings", "javascript"),
        ("#!/usr/bin/env -Sruby -w", "ruby"),
        ("#!/usr/bin/env -i LANG=C php8.2", "php"),
        ("#!/usr/bin/env pypy3\r", "python"),
        ("#!/usr/bin/env -S uv run --script", "python"),
        ("#!/usr/bin/env -S uv run --quiet python3", "python"),
        ("#!/usr/bin/env -S poetry run python", "python"),
        ("#!/usr/bin/env -S pipx run", "python"),
        ("#!/usr/bin/env -S npx tsx", "typescript"),
        ("#!/usr/bin/env -S deno run --allow-read", "typescript"),
        ("#!/usr/bin/swift", "swift"),
        ("#!/usr/bin/env rust-script", "rust"),
    ],
)
def test_the_first_line_tells(line: str, language: str) -> None:
    """The interpreter decides, with ``env``, options, variables and versions; the fence follows."""
    known = language_of("bin/tool", f"{line}\nx\n")
    assert known is not None
    assert known.name == language
    assert fence_tag("bin/tool", f"{line}\nx\n") == known.name


@pytest.mark.parametrize(
    "text",
    ["", "#!", "#!\n#!/bin/sh\n", "x\n#!/bin/sh\n", "#!/usr/bin/env\n", "#!" + " " * 10**6 + "sh"],
)
def test_nothing_else_does(text: str) -> None:
    """Only the first line is read, and only as far as a system reads it."""
    assert language_of("bin/tool", text) is None
    assert fence_tag("bin/tool", text) == "text"


def test_a_known_name_wins() -> None:
    """A suffix or a name that is known says more than the first line; other programs give the fence alone."""
    known = language_of("a.js", "#!/bin/sh\n")
    assert known is not None
    assert known.name == "javascript"
    assert language_of("a.sql", "#!/bin/sh\n") is None
    assert fence_tag("tool", "#!/usr/bin/perl\n") == "perl"


def test_its_views_are_those_of_its_language() -> None:
    """A script without a suffix has a skeleton."""
    text = "#!/usr/bin/env python3\ndef f():\n    return 123456789\n"
    assert skeleton_of("bin/tool", text) == "#!/usr/bin/env python3\ndef f():\n    ...\n"
