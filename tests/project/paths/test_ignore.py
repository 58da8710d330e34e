"""Ignore rules: how many, how long, and how odd they may be."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from aggregate import ConfigError, open_project, request_for
from aggregate.project.files import FolderListing
from aggregate.project.paths import IgnoreRules, TooManyRulesError
from aggregate.project.paths.ignore_rules import MOST_LINES, MOST_PATTERNS
from aggregate.prompt import select_files
from tests.projects import project

PIECES = ["a", "b", "*", "?", "[ab]", "[!a]", "**", "*a*", "\\a", "ab"]
RULES = st.tuples(
    st.sampled_from(["", "!"]),
    st.sampled_from(["", "/", "**/"]),
    st.lists(
        st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).map("".join),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from(["", "/", "/**"]),
).map(lambda parts: parts[0] + parts[1] + "/".join(parts[2]) + parts[3])
PATHS = st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=4).map("/".join)


def slow_ignores(rules: list[str], path: str, *, is_folder: bool) -> bool:
    """Decide by trying every way: the last rule that matches."""
    for rule in reversed(rules):
        pattern = rule.removeprefix("!")
        folders_only = pattern.endswith("/")
        pattern = pattern.removesuffix("/")
        if pattern and (is_folder or not folders_only) and _matches(pattern, path):
            return not rule.startswith("!")
    return False


def _matches(pattern: str, path: str) -> bool:
    names = path.split("/") if "/" in pattern else path.split("/")[-1:]
    return _names_match(pattern.removeprefix("/").split("/"), names)


def _names_match(parts: list[str], names: list[str]) -> bool:
    if not parts:
        return not names
    if parts[0].startswith("**") and not parts[0].strip("*"):
        if len(parts) == 1:
            return bool(names)
        return any(_names_match(parts[1:], names[i:]) for i in range(len(names) + 1))
    return bool(names) and _name_matches(parts[0], names[0]) and _names_match(parts[1:], names[1:])


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


@given(st.lists(RULES, min_size=1, max_size=4), PATHS, st.booleans())
def test_rules_decide_as_the_slow_matcher_does(
    rules: list[str], path: str, is_folder: bool
) -> None:
    """Names, paths, suffixes and patterns, kept in different tables, give what the last matching line says (M-2)."""
    decided = IgnoreRules().below("", rules).ignores(path, is_folder=is_folder)
    assert decided == slow_ignores(rules, path, is_folder=is_folder)


def test_no_rules_take_for_ever() -> None:
    """Rules with many stars, and as many rules as are allowed, are decided on at once, 1,000 names over."""
    program = """
from aggregate.project.paths.ignore_rules import MOST_LINES, MOST_PATTERNS, IgnoreRules
stars = ["*a" * 60 + "*b", "**/a/" * 30 + "b", "**/" * 60 + "b", ("*a" * 20 + "*b/") * 5 + "c"]
for rules in (stars, [f"*a{i}*" for i in range(MOST_PATTERNS)], [f"name{i}" for i in range(MOST_LINES)]):
    level = IgnoreRules().below("", rules)
    assert not any([level.ignores("a" * 250 + "/a" * 100 + f"/{i}", is_folder=False) for i in range(1000)])
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=30)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (["a"] * (MOST_LINES + 1), "has 50,001 ignore rules, the most is 50,000"),
        (["?"] * (MOST_PATTERNS + 1), "has 2,001 ignore rules with wildcards, the most is 2,000"),
        (["[" * 5000], "has an ignore rule of 5,000 characters, the most is 4,096"),
    ],
)
def test_too_many_rules_are_one_sentence(tmp_path: Path, rules: list[str], message: str) -> None:
    """More than anybody needs is refused, in a configuration and in a file, with the number and the limit."""
    with pytest.raises(TooManyRulesError, match=f"^{message}$"):
        IgnoreRules().below("", rules)
    config = {"files": {"base_dir": str(tmp_path), "paths": ["**"], "exclude": rules}}
    expected = f"^files.exclude {message}: shorten it$|must be a path, of at most 4,000 bytes"
    with pytest.raises(ConfigError, match=expected):
        select_files(request_for(open_project(config)))
    project(tmp_path, {".gitignore": "\n".join(rules)})
    with pytest.raises(
        ConfigError, match=rf"^{tmp_path}/.gitignore: has .* the most is .*: shorten it$"
    ):
        FolderListing().files(str(tmp_path))


def test_a_million_lines_end_at_once(tmp_path: Path) -> None:
    """An ignore file of a million lines and 200,000 patterns to exclude end with one sentence, without git."""
    project(tmp_path, {".gitignore": "*x\n" * 1_000_000, "a.py": ""})
    excludes = ", ".join(f'"*x{i}*"' for i in range(200_000))
    project(tmp_path, {"manual_slop.toml": f'[files]\npaths = ["*.py"]\nexclude = [{excludes}]\n'})
    with pytest.raises(ConfigError, match=r"too large: [0-9,]+ bytes, the most is 750,000$"):
        open_project(tmp_path / "manual_slop.toml")
    files = {"base_dir": str(tmp_path), "paths": ["*.py"]}
    for config in (
        {"files": files},
        {"files": {**files, "exclude": [f"*x{i}*" for i in range(200_000)]}},
    ):
        with pytest.raises(
            ConfigError, match=r"has [0-9,]+ ignore rules, the most is 50,000: shorten it$"
        ):
            select_files(request_for(open_project(config)))
