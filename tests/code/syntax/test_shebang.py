"""Scripts without a suffix, known by their first line."""

import pytest

from aggregate.code.syntax import fence_tag, language_of
from tests.viewing import skeleton_of


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
