"""Where the lines of the sections beside the files come from (rule L-1)."""

import re
from urllib.parse import unquote

from aggregate.base.text import fenced_lines
from aggregate.base.values import Label, RunCollector, Segment

_FENCE = re.compile(r"`{3,}[\w+#.-]*")
_EXCERPT = re.compile(r"Discussion Excerpt (\d+)")
_ESCAPE = re.compile(r"\\(.)")


def add_heading(runs: RunCollector, segment: Segment) -> None:
    """Note a segment that heads a section, and what it says below its first line."""
    first, *others = segment.text.split("\n")
    is_heading = first.startswith("#")
    runs.add(1, Label.SECTION if is_heading else Label.SECTION_NOTE, segment.section.value)
    for line in others:
        runs.add(1, Label.SECTION_NOTE if line else Label.BLANK, segment.section.value * bool(line))


def add_turn(runs: RunCollector, segment: Segment) -> None:
    """Note a turn of the discussion with its heading and the rule above it."""
    number = _EXCERPT.fullmatch(segment.source)
    if number is None:
        add_heading(runs, segment)
        return
    text = segment.text
    if text.startswith("---\n\n"):
        runs.add(1, Label.RULE)
        runs.add(1, Label.BLANK)
        text = text.removeprefix("---\n\n")
    turn = number[1]
    runs.add(1, Label.HEADING, f"turn {turn}")
    runs.add(1, Label.BLANK)
    said = text.partition("\n\n")[2]
    lines = said.count("\n") + 1
    opening = fenced_lines(said)
    if not opening:
        runs.add(lines, Label.TURN, turn)
        return
    if opening > 1:
        runs.add(1, Label.TURN, turn)  # who says it
        runs.add(1, Label.BLANK)
    runs.add(1, Label.FENCE, f"turn {turn}")
    runs.add(lines - opening - 1, Label.TURN, turn)
    runs.add(1, Label.FENCE, f"turn {turn}")


def add_result(runs: RunCollector, segment: Segment) -> None:
    """Note a result of a sub-agent: what is not in a fence is on lines of its own, which none of it can break."""
    if not segment.source:
        add_heading(runs, segment)
        return
    name = segment.source
    heading, *lines = segment.text.split("\n")
    runs.add(1, Label.HEADING if heading.startswith("#") else Label.RESULT, name)
    closing = ""
    for line in lines:
        if closing:
            is_fence = line == closing
            runs.add(1, Label.FENCE if is_fence else Label.RESULT, name)
            closing = "" if is_fence else closing
        elif _FENCE.fullmatch(line):
            closing = "`" * (len(line) - len(line.lstrip("`")))
            runs.add(1, Label.FENCE, name)
        elif line:
            runs.add(1, Label.RESULT, name)
        else:
            runs.add(1, Label.BLANK)


def add_beads(runs: RunCollector, segment: Segment) -> None:
    """Note the progress track: a bead's description is indented below its bullet."""
    bead = ""
    for line in segment.text.split("\n"):
        if line.startswith("- "):
            bead = line.rpartition(" (")[2].removesuffix(")")
        elif line.startswith(("#", "Source: ", "Warning: ")):
            bead = ""
        if line.startswith("#"):
            runs.add(1, Label.SECTION, segment.section.value)
        elif line.startswith("Completed: ") and not bead:
            runs.add(1, Label.BEAD, "all that are completed")
        elif bead:
            runs.add(1, Label.BEAD, bead)
        elif line:
            runs.add(1, Label.SECTION_NOTE, segment.section.value)
        else:
            runs.add(1, Label.BLANK)


def add_screenshots(runs: RunCollector, segment: Segment) -> None:
    """Note the links to images."""
    for line in segment.text.split("\n"):
        if line.startswith("!["):
            runs.add(1, Label.SCREENSHOT, _target(line))
        elif line.startswith("#"):
            runs.add(1, Label.SECTION, segment.section.value)
        elif line:
            runs.add(1, Label.SECTION_NOTE, segment.section.value)
        else:
            runs.add(1, Label.BLANK)


def _target(link: str) -> str:
    """Return the path that an image's link leads to."""
    target = link.removesuffix(" (missing)").removesuffix(")")
    start = target.rfind("](")
    if target.endswith(">"):
        start = target.rfind("](<")
        target = _ESCAPE.sub(r"\1", target[start + 3 : -1])
    else:
        target = target[start + 2 :]
    target = unquote(target, errors="surrogateescape")
    return target.removeprefix("./")
