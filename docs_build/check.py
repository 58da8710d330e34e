"""Whether a built site is sound: every link inside leads somewhere, and nothing comes from another host."""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from docs_build.errors import SiteError

_LOADS = {
    "audio": ("src",),
    "embed": ("src",),
    "iframe": ("src",),
    "img": ("src", "srcset"),
    "link": ("href",),
    "object": ("data",),
    "script": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
}
"""Attributes that a browser loads without being asked, by element."""

_MOST_TOLD = 20
"""Faults in the message: enough to work on, and the next run tells the others."""


@dataclass(slots=True)
class Page(HTMLParser):
    """What a page links to, loads and can be linked at."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        HTMLParser.__init__(self)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of a link, a resource or an anchor."""
        given = {name: value or "" for name, value in attrs}
        self.anchors.update(given[name] for name in ("id", "name") if given.get(name))
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag == "link" and given.get("rel") in ("canonical", "prev", "next"):
            return
        self.loads += [given[name] for name in _LOADS.get(tag, ()) if given.get(name)]


def check_site(site: Path) -> int:
    """Return the number of pages of a sound site.

    Raises:
        SiteError: A link leads nowhere, or something is loaded from another host; all such are named.
    """
    pages = {
        path.relative_to(site).as_posix(): _read(path) for path in sorted(site.rglob("*.html"))
    }
    faults = [
        *_broken_links(pages, site),
        *_foreign_loads(pages),
        *_foreign_styles(site),
    ]
    if faults:
        told = "\n".join(faults[:_MOST_TOLD])
        raise SiteError(f"{len(faults)} faults in the built site:\n{told}")
    return len(pages)


def _read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _broken_links(pages: dict[str, Page], site: Path) -> Iterator[str]:
    for name, page in pages.items():
        if name == "404.html":
            continue  # served for any address, so its links begin at the site's root
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = _target(name, parts.path)
            if not (site / target).is_file():
                yield f"{name}: the link to {link} leads nowhere"
                continue
            anchors = pages[target].anchors if target in pages else set()
            if target in pages and parts.fragment and unquote(parts.fragment) not in anchors:
                yield f"{name}: {target} has no place called #{parts.fragment}"


def _target(page: str, path: str) -> str:
    if not path:
        return page
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(path)))
    return posixpath.join(joined, "index.html") if path.endswith("/") else joined


def _foreign_loads(pages: dict[str, Page]) -> Iterator[str]:
    for name, page in pages.items():
        for address in page.loads:
            if urlsplit(address).netloc:
                yield f"{name}: loads {address}"


def _foreign_styles(site: Path) -> Iterator[str]:
    for path in sorted(site.rglob("*.css")):
        text = path.read_text(encoding="utf-8")
        for start in ("url(http", "url(//", "url('http", 'url("http', "@import"):
            if start in text:
                yield f"{path.relative_to(site)}: has {start}"
