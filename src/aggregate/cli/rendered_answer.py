"""Render an answer's Markdown on a terminal while it arrives."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from aggregate.base.text import printable

# The end of a block: a fence, or a blank line. An indented line after a blank one continues its block.
_BLOCK_END: Final = re.compile(r"^ {0,3}(?P<fence>```|~~~)|\n[ \t]*\n+(?=\S)", re.MULTILINE)


@contextmanager
def rendered_answer() -> Iterator[Callable[[str], None]]:
    """Yield a function that takes text and renders each finished block."""
    from rich.console import Console  # slow to load
    from rich.live import Live
    from rich.markdown import Markdown
    from rich.text import Text

    console, waiting = Console(highlight=False), ""

    def render(blocks: str) -> None:
        console.print(Markdown(blocks, hyperlinks=False))  # so that addresses are visible

    with Live(console=console, auto_refresh=False, transient=True, redirect_stderr=False) as live:

        def write(piece: str) -> None:
            nonlocal waiting
            blocks, waiting = split_blocks(waiting + printable(piece, body=True))
            if blocks:
                render(blocks)
                console.print()
            last = waiting.splitlines()[-max(console.height // 2, 1) :]  # rich would cut off more
            live.update(Text("\n".join(last)), refresh=True)

        try:
            yield write
        finally:
            live.update(Text(""), refresh=True)
            if waiting.strip():
                render(waiting)


def split_blocks(text: str) -> tuple[str, str]:
    """Split a text into its finished blocks and the unfinished rest."""
    end, is_code = 0, False
    for match in _BLOCK_END.finditer(text):
        is_code ^= bool(match["fence"])
        if not match["fence"] and not is_code:
            end = match.end()
    return text[:end], text[end:]
