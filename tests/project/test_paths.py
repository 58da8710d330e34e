"""Globs and ignore rules compared with slow reference matchers, and their limits."""

import json
import re
import time
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from aggregate import ConfigError, open_project, request_for, resolve_paths
from aggregate.project.paths import IgnoreRules, TooManyRulesError, compile_glob
from aggregate.project.paths.globs_and_ignores import MOST_ALTERNATIVES, MOST_CHARACTERS, matching
from aggregate.prompt.files import select_files
from tests.processes import python
from tests.projects import project

PIECES = [
    "a", "b", "ab", "c", "*", "?", "[ab]", "[!a]", "{a,b}", "{a,*b}", "{,a}", "{a,{b,ab}}", "**", "*a*", "{*,a}b",
]  # fmt: skip
NAMES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join)
PATTERNS = st.lists(NAMES | st.just("**"), min_size=1, max_size=5).map("/".join)
PATHS = st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=5).map("/".join)


def slow_match(pattern: str, path: str) -> bool:
    """Match by brute force: expand the braces, then walk the names."""
    ways = [tuple(one.split("/")) for one in _expanded(pattern)]
    # Only two stars span folders here; git's rules take more for the same.
    plain = [tuple("*" if re.fullmatch(r"\*{3,}", part) else part for part in way) for way in ways]
    return any(_names_match(way, tuple(path.split("/"))) for way in plain)


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
    if parts[0].startswith("**") and not parts[0].strip("*"):
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
    size = part.index("]") + 1 if part[0] == "[" else 2 if part[0] == "\\" else 1
    token, first = part[:size], name[:1]
    fits = {"?": True, "[ab]": first in ("a", "b"), "[!a]": first != "a"}.get(
        token, first == token[-1]
    )
    return bool(name) and fits and _name_matches(part[size:], name[1:])


def spans(pattern: str) -> bool:
    """Return whether braces produce a name ``**``, which then spans nothing."""
    return any(
        part != "**" and "{" in part and "**" in _expanded(part) for part in pattern.split("/")
    )


def agree(pattern: str, path: str) -> None:
    assert (compile_glob(pattern).match(path) is not None) == slow_match(pattern, path), (
        pattern,
        path,
    )


@given(PATTERNS.filter(lambda pattern: not spans(pattern)), PATHS)
def test_globs_mean_what_the_slow_matcher_says(pattern: str, path: str) -> None:
    """Stars, classes, nested braces and folders agree with brute force (M-2)."""
    agree(pattern, path)


@pytest.mark.slow
@settings(max_examples=60_000)
@given(PATTERNS.filter(lambda pattern: not spans(pattern)), PATHS)
def test_many_globs_mean_what_the_slow_matcher_says(pattern: str, path: str) -> None:
    """The same for many more (M-2)."""
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
    """Patterns exponential in a plain translation match quickly, 200 times over."""
    program = "import json, sys\nfrom aggregate.project.paths import compile_glob\n"
    program += (
        "for pattern, path in json.loads(sys.argv[1]):\n    match = compile_glob(pattern).match\n"
    )
    program += "    assert not any([match(path) for _ in range(200)]), pattern"
    python(program, json.dumps(ENDLESS), timeout=40)


@pytest.mark.parametrize(
    "pattern", ["{a,b}" * 10, "{" + "a," * MOST_ALTERNATIVES + "a}", "a" * (MOST_CHARACTERS + 1)]
)
def test_a_pattern_that_is_too_large_is_refused(pattern: str) -> None:
    """A pattern that could fill the memory is one sentence with the limit."""
    with pytest.raises(ValueError, match=r"the pattern has .* [0-9],[0-9]{3}"):
        compile_glob(pattern)


@pytest.mark.parametrize(
    ("pattern", "path"), [("{a", "{a"), ("{a,{b,c}", "{a,{b,c}"), ("[z-a]", "[z-a]"), ("a}", "a}")]
)
def test_what_is_no_pattern_is_plain_text(pattern: str, path: str) -> None:
    """Unclosed braces and reversed classes are literal (M-2)."""
    assert compile_glob(pattern).match(path)


ODD_PATHS = st.lists(st.text("ab/.\n[{", min_size=1, max_size=8), max_size=6, unique=True)
ODD_GLOBS = st.lists(st.text("ab/.*?[]{},\n", min_size=1, max_size=8), min_size=9, max_size=14)


@given(ODD_PATHS, ODD_GLOBS)
def test_many_paths_match_as_each_does_alone(paths: list[str], globs: list[str]) -> None:
    """Many paths together match the same as alone."""
    for glob in globs:
        assert matching(paths, glob) == [path for path in paths if compile_glob(glob).match(path)]


def test_thousands_of_globs_on_thousands_of_paths() -> None:
    """Globs are not tried on all paths: nine million trials would take far longer."""
    paths = [f"src/d{number % 50}/file{number:05}.py" for number in range(3000)]
    started = time.process_time()
    for number in range(3000):
        assert matching(paths, f"**/*{number:05}.py") == [paths[number]]
    assert time.process_time() - started < 4


RULE_PIECES = ["a", "b", "*", "?", "[ab]", "[!a]", "**", "*a*", "\\a", "ab"]
RULES = st.tuples(
    st.sampled_from(["", "!"]),
    st.sampled_from(["", "/", "**/"]),
    st.lists(
        st.lists(st.sampled_from(RULE_PIECES), min_size=1, max_size=3).map("".join),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from(["", "/", "/**"]),
).map(lambda parts: parts[0] + parts[1] + "/".join(parts[2]) + parts[3])
RULE_PATHS = st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=4).map("/".join)


def _matches(pattern: str, path: str) -> bool:
    names = path.split("/") if "/" in pattern else path.split("/")[-1:]
    return _names_match(tuple(pattern.removeprefix("/").split("/")), tuple(names))


def slow_ignores(rules: list[str], path: str, *, is_folder: bool) -> bool:
    for rule in reversed(rules):
        pattern = rule.removeprefix("!")
        folders_only = pattern.endswith("/")
        pattern = pattern.removesuffix("/")
        if pattern and (is_folder or not folders_only) and _matches(pattern, path):
            return not rule.startswith("!")
    return False


@given(st.lists(RULES, min_size=1, max_size=4), RULE_PATHS, st.booleans())
def test_rules_decide_as_the_slow_matcher_does(
    rules: list[str], path: str, is_folder: bool
) -> None:
    """Names, paths, suffixes and patterns together decide by the last matching line (M-2)."""
    decided = IgnoreRules().below("", rules).ignores(path, is_folder=is_folder)
    assert decided == slow_ignores(rules, path, is_folder=is_folder)


def test_no_rules_take_for_ever() -> None:
    """The most rules allowed, with many stars, decide 1,000 names quickly."""
    program = """
from aggregate.project.paths.globs_and_ignores import MOST_LINES, MOST_PATTERNS, IgnoreRules
stars = ["*a" * 60 + "*b", "**/a/" * 30 + "b", "**/" * 60 + "b", ("*a" * 20 + "*b/") * 5 + "c"]
for rules in (stars, [f"*a{i}*" for i in range(MOST_PATTERNS)], [f"name{i}" for i in range(MOST_LINES)]):
    level = IgnoreRules().below("", rules)
    assert not any([level.ignores("a" * 250 + "/a" * 100 + f"/{i}", is_folder=False) for i in range(1000)])
"""
    python(program, timeout=30)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (["a"] * 50_001, "has 50,001 ignore rules, the limit is 50,000"),
        (["?"] * 2_001, "has 2,001 ignore rules with wildcards, the limit is 2,000"),
        (["[" * 5000], "has an ignore rule of 5,000 characters, the limit is 4,096"),
    ],
)
def test_too_many_rules_are_one_sentence(tmp_path: Path, rules: list[str], message: str) -> None:
    """Too many rules are refused with number and limit, in a configuration or a file."""
    with pytest.raises(TooManyRulesError, match=f"^{message}$"):
        IgnoreRules().below("", rules)
    config = {"files": {"base_dir": str(tmp_path), "paths": ["**"], "exclude": rules}}
    expected = f"^files.exclude {message}: shorten it$|must be a path, with at most 4,000 bytes"
    with pytest.raises(ConfigError, match=expected):
        select_files(request_for(open_project(config)))
    project(tmp_path, {".gitignore": "\n".join(rules)})
    with pytest.raises(
        ConfigError, match=rf"^{tmp_path}/.gitignore: has .* the limit is .*: shorten it$"
    ):
        resolve_paths(tmp_path, "**")


def test_a_million_lines_end_at_once(tmp_path: Path) -> None:
    """A million ignore lines and 200,000 patterns end with one sentence, without git."""
    project(tmp_path, {".gitignore": "*x\n" * 1_000_000, "a.py": ""})
    excludes = ", ".join(f'"*x{i}*"' for i in range(200_000))
    project(tmp_path, {"manual_slop.toml": f'[files]\npaths = ["*.py"]\nexclude = [{excludes}]\n'})
    with pytest.raises(ConfigError, match=r"too large: [0-9,]+ bytes, the limit is 750,000$"):
        open_project(tmp_path / "manual_slop.toml")
    files = {"base_dir": str(tmp_path), "paths": ["*.py"]}
    for config in (
        {"files": files},
        {"files": {**files, "exclude": [f"*x{i}*" for i in range(200_000)]}},
    ):
        with pytest.raises(
            ConfigError, match=r"has [0-9,]+ ignore rules, the limit is 50,000: shorten it$"
        ):
            select_files(request_for(open_project(config)))
