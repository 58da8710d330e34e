"""Fetches one commit of a repository that the user has named: the only way here that git reaches a network."""

import os
import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from aggregate.base.disk.programs import find_program
from aggregate.base.disk.writing import cache_folder, private_folder
from aggregate.base.errors import OutputError
from aggregate.base.text import printable
from aggregate.project.git.git_process import GUARDS, guarded_environment

_SECONDS: Final = 600  # Of a download
_LONGEST: Final = 300  # Characters of what git says of a failure
_HOSTED = re.compile(r"([A-Za-z0-9][\w-]*/([\w.-]+?))(?:\.git)?(?:@(.+))?", re.A)
# What is encrypted, and the user's own disk; ``ext::`` and others would run programs, ``git:`` and ``http:`` can be
# changed on the way.
_ADDRESS = re.compile(r"(?:https|ssh|file)://[^\s\x00-\x1f\x7f]*?([\w.-]+?)(?:\.git)?/*", re.A)
_REF = re.compile(r"\w(?:[\w/-]|\.(?!\.)){0,199}", re.A)  # No option of git's, no refspec
# Nothing of the repository's decides how its files are written: not the user's filters, which may download too.
_ATTRIBUTES: Final = "* -filter -ident -text -working-tree-encoding\n"


def _remotes() -> Path | None:
    cache = cache_folder()
    return cache / "remotes" if cache else None


def forget_remotes() -> None:
    """Delete all that was fetched."""
    if folder := _remotes():
        shutil.rmtree(folder, ignore_errors=True)


class Remote(NamedTuple):
    url: str
    name: str
    ref: str = "HEAD"

    @classmethod
    def parse(cls, text: str) -> "Remote":
        """Return what ``OWNER/NAME[@REF]`` on GitHub or an address names; a ``ValueError`` says what is wrong."""
        if hosted := _HOSTED.fullmatch(text):
            path, name, ref = hosted.groups("HEAD")
            if not _REF.fullmatch(ref):
                raise ValueError(f"{ref[:100]!r} is no branch, tag or commit")
            return cls(f"https://github.com/{path}", name, ref)
        if address := _ADDRESS.fullmatch(text):
            return cls(text, address[1])
        raise ValueError("it must be OWNER/NAME[@REF], or begin with https://, ssh:// or file://")

    @property
    def told(self) -> str:
        """What may be said of it: its address without a password."""
        address = re.sub(r"//[^/]*@", "//", self.url)
        return address + (f" ({self.ref})" if self.ref != "HEAD" else "")

    def fetch(self) -> Path:
        """Bring the commit, without its past, into a folder of the cache, and return that.

        Raises:
            OutputError: It cannot be fetched; the message says what git says.
        """
        folder = _remotes()
        if folder is None:
            raise OutputError("there is no home folder to keep it in: set AGGREGATE_CACHE_DIR")
        digest = sha256("\0".join((self.url, self.ref)).encode()).hexdigest()[:16]
        clone = folder / f"{self.name[:80]}-{digest}"
        private_folder(folder)
        self._git(folder, "init", "--quiet", "--template=", str(clone))
        attributes = clone / ".git/info/attributes"
        attributes.parent.mkdir(exist_ok=True)
        attributes.write_text(_ATTRIBUTES, encoding="ascii")
        options = ("--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--force")
        self._git(clone, "fetch", *options, "--", self.url, self.ref)
        self._git(clone, "checkout", "--quiet", "--force", "--detach", "FETCH_HEAD")
        return clone

    def _git(self, folder: Path, *arguments: str) -> None:
        program = find_program("git", outside=(folder,))
        if program is None:
            raise OutputError(f"{self.told} cannot be fetched: the program git is not installed")
        guards = GUARDS | {"gc.auto": "0", "maintenance.auto": "false"}
        settings = [part for name, value in guards.items() for part in ("-c", f"{name}={value}")]
        environment = guarded_environment(str(folder), os.environ)
        # Of all transports the one that the user has named; redirections cannot choose another.
        environment["GIT_ALLOW_PROTOCOL"] = self.url.partition(":")[0]
        try:
            done = subprocess.run(
                [program, *settings, "-C", str(folder), *arguments],
                env=environment,
                check=False,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                start_new_session=True,  # it asks for no password
            )
        except subprocess.TimeoutExpired:
            raise OutputError(f"{self.told} cannot be fetched in {_SECONDS} seconds") from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").replace(self.url, self.told)
            fatal = re.search(r"^fatal: (.+)", said, re.M)
            reason = printable(fatal[1] if fatal else said.strip())[:_LONGEST]
            raise OutputError(f"{self.told} cannot be fetched: {reason}")
