"""Running a page's examples as a reader would, block after block, and telling where it shows something else."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from docs_build.examples import Block, agree, blocks_of, commands_of
from docs_build.session import Session, Start


@dataclass(frozen=True, slots=True)
class Difference:
    """An example that printed something else than its page shows.

    Attributes:
        page: The page's path in the project.
        first: The number of the first line of what it shows, from 0.
        command: What was run.
        shown: What the page shows.
        printed: What was printed.
        note: What else is wrong, such as an exit code.
    """

    page: str
    first: int
    command: str
    shown: tuple[str, ...]
    printed: tuple[str, ...]
    note: str = ""


def run_page(root: Path, page: str, home: Path, start: Start) -> list[Difference]:
    """Run the examples of a page in a new home folder and return where it shows something else.

    The reader begins in a clone of the project, of which the examples alone are there.
    """
    clone = home / "manual-slop"
    shutil.copytree(root / "docs/examples", clone / "docs/examples")
    session = Session(home, clone, start)
    differences: list[Difference] = []
    blocks = list(blocks_of((root / page).read_text(encoding="utf-8")))
    for block, following in zip_longest(blocks, blocks[1:]):
        if block.is_run and block.kind == "console":
            differences += _run_console(session, page, block)
        elif block.is_run and block.kind == "python":
            differences += _run_python(session, page, block, following)
    return differences


def _run_console(session: Session, page: str, block: Block) -> Iterator[Difference]:
    commands = commands_of(block)
    for command in commands:
        code, text = session.run(command.text)
        printed = tuple(text.splitlines())
        may_fail = block.fails and command is commands[-1]
        note = "" if bool(code) == may_fail else f"exit code {code}"
        if note or not agree(command.output, printed):
            yield Difference(page, command.first, command.text, command.output, printed, note)


def _run_python(
    session: Session, page: str, block: Block, following: Block | None
) -> Iterator[Difference]:
    code = "\n".join(block.lines) + "\n"
    try:
        printed = tuple(session.run_python(code, page).splitlines())
    except Exception as error:  # noqa: BLE001 - whatever an example raises is told with its place
        yield Difference(page, block.first, code, (), (), f"{type(error).__name__}: {error}")
        return
    is_shown = following is not None and following.kind == "text"
    shown = following.lines if following is not None and is_shown else ()
    first = following.first if following is not None else 0
    if is_shown and not agree(shown, printed):
        yield Difference(page, first, code, shown, printed)
    elif printed and not is_shown:
        yield Difference(page, block.first, code, (), printed, "prints, and the page shows nothing")
