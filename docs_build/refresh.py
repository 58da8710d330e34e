"""Writing anew what the examples of the pages print."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from docs_build.errors import SiteError
from docs_build.examples import RUNNABLE, blocks_of, renewed
from docs_build.running import Difference, run_page
from docs_build.session import Streams


def pages_to_run(root: Path) -> list[str]:
    """Return the pages that have examples to run, sorted."""
    pages = [*(root / "docs").rglob("*.md"), root / "README.md"]
    return sorted(
        page.relative_to(root).as_posix()
        for page in pages
        if any(
            block.is_run and block.kind in RUNNABLE
            for block in blocks_of(page.read_text(encoding="utf-8"))
        )
    )


def refresh(root: Path, pages: Sequence[str] = ()) -> Iterator[str]:
    """Run these pages, put what is printed in the place of what differs, and yield those that were changed.

    Without any, all pages are run. Lines that a page leaves out by ``...`` stay left out.

    Raises:
        SiteError: A page has no examples, or a command ended with another exit code than its page says: its output
            is no example.
    """
    known = pages_to_run(root)
    for page in pages:
        if page not in known:
            raise SiteError(f"{page}: no page with examples; such are {', '.join(known)}")
    for page in pages or known:
        with tempfile.TemporaryDirectory() as home:
            differences = run_page(root, page, Path(home).resolve(), start_process)
        for difference in differences:
            if difference.note:
                told = "\n".join(difference.printed)
                raise SiteError(f"{page}: {difference.command}: {difference.note}\n{told}")
        if differences:
            _write(root / page, differences)
            yield page


def start_process(
    folder: Path, arguments: list[str], environment: Mapping[str, str], streams: Streams
) -> int:
    """Run ``aggregate`` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "aggregate", *arguments],
        cwd=folder,
        env=dict(environment),
        stdin=streams[0],
        stdout=streams[1],
        stderr=streams[2],
        check=False,
        timeout=120,
    ).returncode


def _write(path: Path, differences: list[Difference]) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    for difference in reversed(differences):
        end = difference.first + len(difference.shown)
        lines[difference.first : end] = renewed(difference.shown, difference.printed)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
