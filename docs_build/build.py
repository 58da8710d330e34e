"""From the pages and the code to ``site/``, in one run of zensical, which loads nothing from another host."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

from docs_build.english import message_reference
from docs_build.pages import SiteError, stage
from docs_build.reference import command_reference, configuration_reference, python_reference

CONFIGURATION = "zensical.toml"
STAGED = Path("build/docs")
"""Where zensical reads: ``docs_dir`` of its configuration."""
SITE = Path("site")
"""Where it writes: ``site_dir`` of its configuration."""

WORKER_ELSEWHERE = "https://unpkg.com/iframe-worker/shim"
"""What zensical's pages for offline use would load from another host, so that the search finds a worker."""
WORKER = "javascripts/worker-in-frame.js"
"""What does so here, by its place in the site."""

_LOADING = ("src", "srcset", "href", "data", "poster")
_FOREIGN_STYLE = re.compile(r"""url\(["']?(?:http|//)|@import""")

GENERATED: Mapping[str, Callable[[], str]] = {
    "reference/commands.md": command_reference,
    "reference/configuration.md": configuration_reference,
    "reference/messages.md": message_reference,
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
    return check_site(root / SITE)


def _run_zensical(root: Path) -> None:
    options = ["--clean", "--strict", "-f", CONFIGURATION]
    command = [sys.executable, "-m", "zensical", "build", *options]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
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
    is_changed = False
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        if WORKER_ELSEWHERE in text:
            depth = len(page.relative_to(site).parts) - 1
            ours = text.replace(WORKER_ELSEWHERE, "../" * depth + WORKER)
            page.write_text(ours, encoding="utf-8")
            is_changed = True
    if not is_changed:
        raise SiteError(f"no page loads {WORKER_ELSEWHERE} any more: see how its search works now")


class _Loads(HTMLParser):
    """What a page loads without being asked."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of a resource; a canonical link and one to the page before or behind load nothing."""
        given = {name: value or "" for name, value in attrs}
        if tag != "a" and given.get("rel") not in ("canonical", "prev", "next"):
            self.addresses += [given[name] for name in _LOADING if given.get(name)]


def check_site(site: Path) -> int:
    """Return the number of pages of a site that loads nothing from another host.

    Raises:
        SiteError: It does; all such addresses are named.
    """
    faults, pages = [], sorted(site.rglob("*.html"))
    for path in pages:
        loads = _Loads()
        loads.feed(path.read_text(encoding="utf-8"))
        foreign = [address for address in loads.addresses if urlsplit(address).netloc]
        faults += [f"{path.relative_to(site)}: loads {address}" for address in foreign]
    for path in sorted(site.rglob("*.css")):
        found = _FOREIGN_STYLE.findall(path.read_text(encoding="utf-8"))
        faults += [f"{path.relative_to(site)}: has {start}" for start in found]
    if faults:
        raise SiteError(f"{len(faults)} faults in the built site:\n" + "\n".join(faults))
    return len(pages)
