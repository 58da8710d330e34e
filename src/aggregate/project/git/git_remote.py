"""Fetches one commit of a repository that the user has named: the only way here that git reaches a network."""

import os
import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from aggregate.base.disk.programs import find_program
from aggregate.base.disk.writing import cache_folder, private_folder, replace_own
from aggregate.base.errors import ConfigError, OutputError
from aggregate.base.text import printable
from aggregate.project.git.git_process import guarded_environment

_FOLDER: Final = "remotes"  # In the cache
_SECONDS: Final = 600  # Of a download
_LONGEST: Final = 300  # Characters of what git says of a failure
_HOSTED = re.compile(r"([A-Za-z0-9][\w-]*/([\w.-]+?))(?:\.git)?(?:@(.+))?", re.A)
# What is encrypted, and the user's own disk; ``ext::`` and others would run programs, ``git:`` and ``http:`` can be
# changed on the way.
_ADDRESS = re.compile(
    r"(?:https|ssh|file)://(?:[\w.-]+@)?[^\s\x00-\x1f\x7f@]*?([\w.-]+?)(?:\.git)?/*", re.A
)
_REF = re.compile(r"\w(?:[\w/-]|\.(?!\.)){0,199}", re.A)  # No option of git's, no refspec
# Nothing of the repository's decides how its files are written: not the user's filters, which may download too.
_ATTRIBUTES: Final = "* -filter -ident -text -working-tree-encoding\n"


def forget_remotes(cache: Path) -> None:
    """Delete all that was fetched."""
    shutil.rmtree(cache / _FOLDER, ignore_errors=True)


class Remote(NamedTuple):
    url: str
    name: str
    ref: str = "HEAD"

    @classmethod
    def parse(cls, text: str) -> "Remote":
        """Return what ``OWNER/NAME[@REF]`` on GitHub or an address names; a ``ConfigError`` says what is wrong."""
        if hosted := _HOSTED.fullmatch(text):
            path, name, ref = hosted.groups("HEAD")
            if not _REF.fullmatch(ref):
                raise ConfigError(f"--remote: {ref[:100]!r} is no branch, tag or commit")
            return cls(f"https://github.com/{path}", name, ref)
        if address := _ADDRESS.fullmatch(text):
            return cls(text, address[1])
        raise ConfigError(
            "--remote must be OWNER/NAME[@REF], or an address of https, ssh or file without a password"
        )

    def fetch(self) -> Path:
        """Bring the commit, without its past, into a folder of the cache, and return that.

        Raises:
            OutputError: It cannot be fetched; the message says what git says.
        """
        cache = cache_folder()
        if cache is None:
            raise OutputError("there is no home folder to keep it in: set AGGREGATE_CACHE_DIR")
        digest = sha256("\0".join((self.url, self.ref)).encode()).hexdigest()[:16]
        clone = cache / _FOLDER / f"{self.name[:80]}-{digest}"
        private_folder(clone)
        self._git(clone, "init", "--quiet", "--template=")
        replace_own(clone / ".git/info/attributes", _ATTRIBUTES)
        options = ("--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--force")
        self._git(clone, "fetch", *options, "--", self.url, self.ref)
        self._git(clone, "checkout", "--quiet", "--force", "--detach", "FETCH_HEAD")
        return clone

    def _git(self, folder: Path, *arguments: str) -> None:
        program = find_program("git", outside=(folder,))
        if program is None:
            raise OutputError(f"{self.url} cannot be fetched: the program git is not installed")
        environment = guarded_environment(str(folder), os.environ)
        # Of all transports the one that the user has named; redirections cannot choose another.
        environment["GIT_ALLOW_PROTOCOL"] = self.url.partition(":")[0]
        try:  # in a session of its own it asks for no password
            done = subprocess.run(
                [program, "-c", "maintenance.auto=false", "-C", str(folder), *arguments],
                env=environment,
                check=False,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                start_new_session=True,
            )
        except subprocess.TimeoutExpired:
            raise OutputError(f"{self.url} cannot be fetched in {_SECONDS} seconds") from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace")
            fatal = re.search(r"^fatal: (.+)", said, re.M)
            reason = printable(fatal[1] if fatal else said.strip())[:_LONGEST]
            raise OutputError(f"{self.url} cannot be fetched: {reason}")
