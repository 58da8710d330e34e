"""From the pages and the code to ``site/``, in one run of zensical."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from docs_build.check import check_site
from docs_build.command_reference import command_reference
from docs_build.configuration_reference import configuration_reference
from docs_build.copying import copy_commands_only
from docs_build.errors import SiteError
from docs_build.pages import stage
from docs_build.python_reference import python_reference

CONFIGURATION = "zensical.toml"
STAGED = Path("build/docs")
"""Where zensical reads: ``docs_dir`` of its configuration."""
SITE = Path("site")
"""Where it writes: ``site_dir`` of its configuration."""

WORKER_ELSEWHERE = "https://unpkg.com/iframe-worker/shim"
"""What zensical's pages for offline use would load from another host, so that the search finds a worker."""
WORKER = "javascripts/worker-in-frame.js"
"""What does so here, by its place in the site."""

GENERATED: Mapping[str, Callable[[], str]] = {
    "reference/commands.md": command_reference,
    "reference/configuration.md": configuration_reference,
    "reference/python-names.md": python_reference,
}
"""Pages that are made from the code at each build, and kept nowhere."""


def build(root: Path) -> int:
    """Build the site and check it; return the number of its pages.

    Raises:
        SiteError: A page, a link or zensical itself is at fault.
    """
    staged = root / STAGED
    shutil.rmtree(staged, ignore_errors=True)
    shutil.rmtree(root / SITE, ignore_errors=True)
    stage(root, staged)
    for place, generate in GENERATED.items():
        target = staged / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(generate(), encoding="utf-8")
    _run_zensical(root)
    _bring_worker_home(root / SITE)
    _copy_commands_only(root / SITE)
    return check_site(root / SITE)


def _run_zensical(root: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "zensical",
        "build",
        "--clean",
        "--strict",
        "-f",
        CONFIGURATION,
    ]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    except OSError as error:
        raise SiteError(f"zensical cannot be started: {error}") from error
    if done.returncode:
        raise SiteError(
            f"zensical ended with {done.returncode} (is the extra docs installed?):\n"
            f"{done.stdout}{done.stderr}"
        )


def _bring_worker_home(site: Path) -> None:
    """Let each page load the site's own stand-in for a worker.

    Raises:
        SiteError: No page had anything to replace: zensical does it otherwise now, and this is to be looked at.
    """

    def loads_ours(page: Path, text: str) -> str:
        depth = len(page.relative_to(site).parts) - 1
        return text.replace(WORKER_ELSEWHERE, "../" * depth + WORKER)

    if not _rewrite_pages(site, loads_ours):
        raise SiteError(f"no page loads {WORKER_ELSEWHERE} any more: see how its search works now")


def _copy_commands_only(site: Path) -> None:
    """Let the button of each example copy its commands.

    Raises:
        SiteError: No page has such an example: zensical writes it otherwise now, and this is to be looked at.
    """
    if not _rewrite_pages(site, lambda _, text: copy_commands_only(text)):
        raise SiteError("no page has an example of console that can be copied any more")


def _rewrite_pages(site: Path, rewritten: Callable[[Path, str], str]) -> bool:
    """Write each page as ``rewritten`` has it; tell whether any is another one by that."""
    is_changed = False
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        other = rewritten(page, text)
        if other != text:
            page.write_text(other, encoding="utf-8")
            is_changed = True
    return is_changed
