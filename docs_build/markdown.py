"""Plain text as markdown that shows it as it is."""

import re

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~^=])")


def escaped(text: str) -> str:
    """Return a text in which no character has a meaning for markdown."""
    return _SPECIAL.sub(r"\\\1", text).replace("\\<", "&lt;").replace("\\>", "&gt;")


def code(text: str) -> str:
    """Return a text as inline code, whatever backticks it has; bars are no cells of a table."""
    ticks = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    space = " " if "`" in text else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def in_cell(text: str) -> str:
    """Return markdown for a cell of a table."""
    return (
        text.replace("\n", " ").replace("|", "&#124;")
        if "`" not in text
        else text.replace("|", "\\|")
    )
