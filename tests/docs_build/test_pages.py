"""Staging: what the site has, and where links lead in it."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from docs_build.build import GENERATED, STAGED

from docs_build.pages import SiteError, site_places, stage, turn_links

ROOT = Path(__file__).parents[2]
FOR_CONTRIBUTORS = frozenset({"contract.md"})
"""Pages that are linked, and are not in the users' navigation."""
PLACES = {"docs/a.md": "a.md", "docs/b/c.md": "b/c.md", "SECURITY.md": "explanation/security.md"}


@pytest.mark.parametrize(
    ("source", "link", "turned"),
    [
        ("docs/a.md", "b/c.md#x", "b/c.md#x"),
        ("docs/b/c.md", "../a.md", "../a.md"),
        ("docs/b/c.md", "../../SECURITY.md", "../explanation/security.md"),
        ("SECURITY.md", "docs/a.md#t", "../a.md#t"),
        ("docs/a.md", "#here", "#here"),
        ("docs/a.md", "https://example.org/a.md", "https://example.org/a.md"),
    ],
)
def test_links_are_turned(source: str, link: str, turned: str) -> None:
    """A link leads to its target's place in the site, those to other hosts and within the page stay."""
    assert turn_links(f"See [it]({link}).\n", source, PLACES) == f"See [it]({turned}).\n"


def test_code_has_no_links() -> None:
    """What looks like a link in code stays as it is."""
    page = "`[a](b.md)` and\n\n```text\n[a](b.md)\n```\n"
    assert turn_links(page, "docs/a.md", PLACES) == page


def test_a_link_to_nothing_is_refused() -> None:
    """The sentence names the page and the link."""
    with pytest.raises(SiteError, match=r"docs/a\.md: the link to gone\.md leads to no file"):
        turn_links("[a](gone.md)", "docs/a.md", PLACES)
    with pytest.raises(SiteError, match=r"docs/a\.md: docs/b/c\.md has no place called #gone"):
        turn_links("[a](b/c.md#gone)", "docs/a.md", PLACES, {"docs/b/c.md": {"there"}})


def test_every_link_between_pages_leads_somewhere(tmp_path: Path) -> None:
    """The real pages can be staged, and the navigation lists each page for users once, and nothing else."""
    staged = stage(ROOT, tmp_path)
    configuration = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    listed = sorted(_entries(configuration["project"]["nav"]))
    pages = [
        place for place in staged if place.endswith(".md") and not place.startswith("examples/")
    ]
    assert listed == sorted({*pages, *GENERATED} - FOR_CONTRIBUTORS)
    assert Path(configuration["project"]["docs_dir"]) == STAGED


def test_every_link_of_the_readme_leads_somewhere() -> None:
    """The read-me is no page of the site, which begins with one of its own; its links are held all the same."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert turn_links(text, "README.md", site_places(ROOT) | {"README.md": "README.md"})


def _entries(entries: list[dict[str, Any]]) -> Iterator[str]:
    for entry in entries:
        for below in entry.values():
            yield from [below] if isinstance(below, str) else _entries(below)


def test_pages_repeat_measured_figures() -> None:
    """The README's number of edits, and the pages' shares of lines and of cached input, equal the measured rows."""
    row = re.search(
        r"^\| current version, 432 commits .*?\| \.\d+ / \.\d+ / (\.\d+) \|",
        _text("docs/comparisons.md"),
        re.MULTILINE,
    )
    assert row
    lines = f"{100 * float(row[1]):.0f} % of the changed source lines"
    assert lines in _text("docs/comparisons.md")
    rights = re.findall(
        r"^\| (aggregate|BM25 on whole source files|aider's map) \| (\d+) \| \d+ \| \d+ \|$",
        _text("docs/comparisons.md"),
        re.MULTILINE,
    )
    ours, words, aider = (right for _, right in rights)
    assert f" {ours} of 27 real commits" in _text("README.md")
    assert f"by BM25 they wrote {words}, with aider's map {aider}." in _text("README.md")
    row = re.search(
        r"^\| read from the cache (\|.*)$", _text("simulation/JOURNAL.md"), re.MULTILINE
    )
    assert row
    read = [round(float(share)) for share in re.findall(r"[\d.]+", row[1])]
    for page in ("docs/sending.md", "docs/comparisons.md"):
        assert f" {min(read)} to {max(read)} % of the input" in _text(page)


def test_pages_stay_short() -> None:
    """Pages for users have at most 25,000 words, their examples included; the contract and example projects do not count."""
    pages = [page for page in (ROOT / "docs").rglob("*.md") if "examples" not in page.parts]
    words = sum(
        len(page.read_text(encoding="utf-8").split())
        for page in pages
        if page.name not in FOR_CONTRIBUTORS
    )
    assert words <= 25_000


def _text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def test_no_page_names_an_address_that_is_loaded() -> None:
    """No page embeds an image or a script from another host."""
    for path in (ROOT / "docs").rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        assert re.findall(r"!\[[^\]]*\]\(https?:|<(?:img|script|iframe)[^>]*https?:", text) == [], (
            path
        )
