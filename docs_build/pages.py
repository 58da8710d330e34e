"""Which pages the site has, where each lies in it, and how links change with that.

Pages are written to be read where they lie, in a clone or on a forge, so their links are relative to their own file. A
page from outside of ``docs/`` gets a place in the site, and every link is turned to where its target lies there.
"""

import posixpath
import re
import shutil
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path


class SiteError(Exception):
    """The site cannot be built, or what was built is not sound: one sentence says what, where and what to do."""


DOCS = "docs"
"""The folder whose files keep their places."""

ELSEWHERE: Mapping[str, str] = {
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "explanation/security.md",
    "conductor/workflow.md": "explanation/workflow.md",
    "simulation/README.md": "explanation/simulations.md",
}
"""Pages outside of ``docs/`` that the site has too, with their places in it."""

_FENCE = re.compile(r"^ {0,3}(?P<ticks>`{3,}|~{3,})(?P<info>.*)$")
_LINK = re.compile(r"(?P<before>!?\[(?:[^\]\[]|\[[^\]]*\])*\]\()(?P<target>[^()\s]+)(?P<after>\))")
_CODE = re.compile(r"``.+?``|`[^`\n]+`")
_HEADING = re.compile(r"#+ (.*)")
_NAMED = re.compile(r'(?:id="|\{#)([\w-]+)')
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def stage(root: Path, folder: Path) -> list[str]:
    """Copy the pages of the project into a folder, with their links turned, and return their places, sorted.

    Raises:
        SiteError: A link leads to no file of the site.
    """
    places = site_places(root)
    texts = {
        source: (root / source).read_text(encoding="utf-8")
        for source in places
        if source.endswith(".md")
    }
    anchors = {source: set(_anchors(text)) for source, text in texts.items()}
    for source, place in sorted(places.items()):
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if source in texts:
            turned = turn_links(texts[source], source, places, anchors)
            target.write_text(turned, encoding="utf-8")
        else:
            shutil.copyfile(root / source, target)
    return sorted(places.values())


def site_places(root: Path) -> dict[str, str]:
    """Return where each file of the site lies in it, by its path in the project."""
    inside = {
        f"{DOCS}/{path.relative_to(root / DOCS).as_posix()}"
        for path in (root / DOCS).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    return {path: path.removeprefix(f"{DOCS}/") for path in inside} | dict(ELSEWHERE)


def _anchors(text: str) -> Iterator[str]:
    """Yield the places of a page that a link may lead to: its headings, and what is named by hand."""
    lines = text.splitlines()
    code = _code_of(lines)
    for number, line in enumerate(lines):
        if number not in code:
            yield from _NAMED.findall(line)
            if heading := _HEADING.fullmatch(line):
                bare = re.sub(r"[^\w\s-]", "", _LINK.sub(lambda link: link["before"], heading[1]))
                yield re.sub(r"\s+", "-", bare.strip().lower())


def turn_links(
    text: str,
    source: str,
    places: Mapping[str, str],
    anchors: Mapping[str, Container[str]] | None = None,
) -> str:
    """Return a page with each link to a file of the project leading to that file's place in the site.

    Raises:
        SiteError: A link leads to no file of the site.
    """
    lines = text.splitlines()
    code = _code_of(lines)
    turned = [
        line if number in code else _turn_line(line, source, places, anchors or {})
        for number, line in enumerate(lines)
    ]
    return "\n".join(turned) + "\n"


def fences_of(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the places of both fences of each block, and what stands behind the first; an open one lasts to the end."""
    start, ticks, info = 0, "", ""
    for number, line in enumerate(lines):
        fence = _FENCE.match(line)
        if fence and not ticks:
            start, ticks, info = number, fence["ticks"], fence["info"].strip()
        elif fence and fence["ticks"].startswith(ticks) and not fence["info"].strip():
            yield start, number, info
            ticks = ""
    if ticks:
        yield start, len(lines), info


def _code_of(lines: Sequence[str]) -> set[int]:
    """Return the places of the lines of fenced blocks, their fences among them."""
    blocks = fences_of(lines)
    return {number for start, end, _ in blocks for number in range(start, end + 1)}


def _turn_line(
    line: str, source: str, places: Mapping[str, str], anchors: Mapping[str, Container[str]]
) -> str:
    quoted = [match.span() for match in _CODE.finditer(line)]

    def turned(link: re.Match[str]) -> str:
        if any(start < link.start("target") < end for start, end in quoted):
            return link[0]
        return f"{link['before']}{_turn(link['target'], source, places, anchors)}{link['after']}"

    return _LINK.sub(turned, line)


def _turn(
    target: str, source: str, places: Mapping[str, str], anchors: Mapping[str, Container[str]]
) -> str:
    if _ADDRESS.match(target):
        return target
    path, mark, fragment = target.partition("#")
    meant = posixpath.normpath(posixpath.join(posixpath.dirname(source), path)) if path else source
    if fragment and meant in anchors and fragment not in anchors[meant]:
        raise SiteError(f"{source}: {meant} has no place called #{fragment}")
    if not path:
        return target
    place = places.get(meant)
    if place is None:
        raise SiteError(f"{source}: the link to {target} leads to no file of the site")
    start = posixpath.dirname(places[source]) or "."
    return posixpath.relpath(place, start) + mark + fragment
