"""Globs against an oracle that is slow and obvious, and on patterns that are made to take for ever."""

import json
import re
import subprocess
import sys
from functools import cache

import pytest
from hypothesis import given, settings, strategies as st

from aggregate.project.paths import compile_glob
from aggregate.project.paths.globs import MOST_ALTERNATIVES, MOST_CHARACTERS

PIECES = [
    "a", "b", "ab", "c", "*", "?", "[ab]", "[!a]", "{a,b}", "{a,*b}", "{,a}", "{a,{b,ab}}", "**", "*a*", "{*,a}b",
]  # fmt: skip
NAMES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join)
PATTERNS = st.lists(NAMES | st.just("**"), min_size=1, max_size=5).map("/".join)
PATHS = st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=5).map("/".join)


def slow_match(pattern: str, path: str) -> bool:
    """Match by trying every way: expand the braces, then walk the names one by one."""
    return any(
        _names_match(tuple(one.split("/")), tuple(path.split("/"))) for one in _expanded(pattern)
    )


def _expanded(pattern: str) -> list[str]:
    inner = re.search(r"\{([^{}]*)\}", pattern)
    if inner is None:
        return [pattern]
    ways = [pattern[: inner.start()] + way + pattern[inner.end() :] for way in inner[1].split(",")]
    return [plain for way in ways for plain in _expanded(way)]


@cache
def _names_match(parts: tuple[str, ...], names: tuple[str, ...]) -> bool:
    if not parts:
        return not names
    if parts[0] == "**":
        if len(parts) == 1:
            return bool(names)
        return any(_names_match(parts[1:], names[i:]) for i in range(len(names) + 1))
    return bool(names) and _name_matches(parts[0], names[0]) and _names_match(parts[1:], names[1:])


@cache
def _name_matches(part: str, name: str) -> bool:
    if not part:
        return not name
    if part[0] == "*":
        return any(_name_matches(part[1:], name[i:]) for i in range(len(name) + 1))
    token = part[: part.index("]") + 1] if part[0] == "[" else part[0]
    fits = {"?": True, "[ab]": name[:1] in ("a", "b"), "[!a]": name[:1] != "a"}.get(
        token, name[:1] == token
    )
    return bool(name) and fits and _name_matches(part[len(token) :], name[1:])


def spans(pattern: str) -> bool:
    """Tell whether braces in the pattern make a name ``**``, which is then two stars and spans nothing."""
    return any(
        part != "**" and "{" in part and "**" in _expanded(part) for part in pattern.split("/")
    )


def agree(pattern: str, path: str) -> None:
    """Compare the matcher with the oracle."""
    assert (compile_glob(pattern).match(path) is not None) == slow_match(pattern, path), (
        pattern,
        path,
    )


@given(PATTERNS.filter(lambda pattern: not spans(pattern)), PATHS)
def test_globs_mean_what_the_slow_matcher_says(pattern: str, path: str) -> None:
    """Stars, classes, nested braces and folders match exactly what trying every way finds (M-2)."""
    agree(pattern, path)


@pytest.mark.slow
@settings(max_examples=60_000)
@given(PATTERNS.filter(lambda pattern: not spans(pattern)), PATHS)
def test_many_globs_mean_what_the_slow_matcher_says(pattern: str, path: str) -> None:
    """The same on many more (M-2)."""
    agree(pattern, path)


STARS = "*a" * 60 + "*b"
LONG = "a" * 250


ENDLESS = [
    (STARS, LONG),
    ("**/" * 30 + "b", "a/" * 2000 + "a"),
    ("**/a/" * 30 + "b", "a/" * 2000 + "a"),
    ("**/*a*a*a/" * 12 + "b", ("a" * 60 + "/") * 60 + "a"),
    ("{a,*}/" * 40 + "b", "a/" * 41),
    ("{*a*a*a*a,*a*a*a*b}" * 3 + "c", LONG),
    ("{a,aa}" * 9 + "b", LONG),
    ("{" * 400 + "*a" + "}" * 400 + "b", LONG),
    ("/".join([STARS] * 8), "/".join([LONG] * 8)),
]


def test_no_pattern_takes_for_ever() -> None:
    """Patterns that double the work with every star of a plain translation end at once, 200 times over."""
    program = "import json, sys\nfrom aggregate.project.paths import compile_glob\n"
    program += (
        "for pattern, path in json.loads(sys.argv[1]):\n    match = compile_glob(pattern).match\n"
    )
    program += "    assert not any([match(path) for _ in range(200)]), pattern"
    subprocess.run([sys.executable, "-c", program, json.dumps(ENDLESS)], check=True, timeout=40)


@pytest.mark.parametrize(
    "pattern", ["{a,b}" * 10, "{" + "a," * MOST_ALTERNATIVES + "a}", "a" * (MOST_CHARACTERS + 1)]
)
def test_a_pattern_that_is_too_large_is_refused(pattern: str) -> None:
    """What could fill the memory is refused by one sentence with the limit."""
    with pytest.raises(ValueError, match=r"the pattern has .* [0-9],[0-9]{3}"):
        compile_glob(pattern)


@pytest.mark.parametrize(
    ("pattern", "path"), [("{a", "{a"), ("{a,{b,c}", "{a,{b,c}"), ("[z-a]", "[z-a]"), ("a}", "a}")]
)
def test_what_is_no_pattern_is_plain_text(pattern: str, path: str) -> None:
    """A brace that stays open and a class that runs backwards stand for themselves (M-2)."""
    assert compile_glob(pattern).match(path)
