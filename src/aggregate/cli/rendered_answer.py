"""An answer's Markdown on a terminal: what is not whole stands there as it comes, and gives way to what it says."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from aggregate.base.text import printable

# What is indented behind an empty line goes on with what stands before it.
_BETWEEN: Final = re.compile(r"^ {0,3}(?P<fence>```|~~~)|\n[ \t]*\n+(?=\S)", re.MULTILINE)


@contextmanager
def rendered_answer() -> Iterator[Callable[[str], None]]:
    """Yield what takes the pieces; a paragraph, list or block of code is rendered once the next one begins."""
    from rich.console import Console  # which takes a while
    from rich.live import Live
    from rich.markdown import Markdown
    from rich.text import Text

    console, waiting = Console(highlight=False), ""

    def render(blocks: str) -> None:
        console.print(Markdown(blocks, hyperlinks=False))  # a link shows where it leads

    with Live(console=console, auto_refresh=False, transient=True, redirect_stderr=False) as live:

        def write(piece: str) -> None:
            nonlocal waiting
            blocks, waiting = split_blocks(waiting + printable(piece, body=True))
            if blocks:
                render(blocks)
                console.print()
            last = waiting.splitlines()[-max(console.height // 2, 1) :]  # more would not be drawn
            live.update(Text("\n".join(last)), refresh=True)

        try:
            yield write
        finally:
            live.update(Text(""), refresh=True)
            if waiting.strip():
                render(waiting)


def split_blocks(text: str) -> tuple[str, str]:
    """Return the blocks that nothing can be added to any more, and what begins the next one."""
    end, is_code = 0, False
    for found in _BETWEEN.finditer(text):
        is_code ^= bool(found["fence"])
        if not found["fence"] and not is_code:
            end = found.end()
    return text[:end], text[end:]
