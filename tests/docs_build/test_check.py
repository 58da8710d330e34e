"""The built site: nothing comes from another host."""

import importlib.util
from pathlib import Path

import pytest
from docs_build.build import SITE, build, check_site

from docs_build.pages import SiteError

ROOT = Path(__file__).parents[2]


def write(site: Path, **pages: str) -> None:
    """Write pages of a site by name."""
    for name, body in pages.items():
        (site / f"{name}.html").write_text(f"<html><body>{body}</body></html>")


def test_a_sound_site(tmp_path: Path) -> None:
    """Links to other hosts are fine."""
    write(
        tmp_path, a='<a href="b.html#x">b</a> <a href="https://example.org">e</a>', b='<p id="x">'
    )
    assert check_site(tmp_path) == 2


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<script src="https://example.org/x.js"></script>', "a.html: loads https://example.org/x.js"),
        ('<img src="//example.org/x.png">', "a.html: loads //example.org/x.png"),
        ('<link rel="stylesheet" href="https://example.org/x.css">', "a.html: loads https://example.org/x.css"),
    ],
)  # fmt: skip
def test_a_fault_is_told(tmp_path: Path, body: str, fault: str) -> None:
    """Anything that a browser would load from elsewhere are named."""
    write(tmp_path, a=body)
    with pytest.raises(SiteError, match="1 faults") as raised:
        check_site(tmp_path)
    assert str(raised.value).splitlines()[1:] == [fault]


def test_styles_load_nothing_from_elsewhere(tmp_path: Path) -> None:
    """A font in a style sheet counts as well."""
    (tmp_path / "a.css").write_text("a { src: url(https://example.org/f.woff) }")
    with pytest.raises(SiteError, match=r"a\.css: has url\(http"):
        check_site(tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(
    not importlib.util.find_spec("zensical"), reason="the extra docs is not installed"
)
def test_the_site_is_built() -> None:
    """The one command gives a sound site with a search for reading from a folder, and a page of each generated kind."""
    assert build(ROOT) > 30
    assert (ROOT / SITE / "search.js").is_file()
    names = (ROOT / SITE / "reference/python-names.html").read_text(encoding="utf-8")
    assert 'id="aggregate.Budget"' in names
    assert "A maximum for the whole prompt" in names
