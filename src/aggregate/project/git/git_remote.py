"""Fetch one commit of a remote repository; nothing else lets git use the network."""

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
from aggregate.project.git.guarded_git import guarded_environment

_FOLDER: Final = "remotes"  # in the cache
_SECONDS: Final = 600  # of a download
_LONGEST: Final = 300  # characters of git's error message
_HOSTED = re.compile(r"([A-Za-z0-9][\w-]*/([\w.-]+?))(?:\.git)?(?:@(.+))?", re.A)
# Encrypted transports, and local files. ``ext::`` and others run programs; ``git:`` and ``http:`` can be tampered with.
_ADDRESS = re.compile(
    r"(?:https|ssh|file)://(?:[\w.-]+@)?[^\s\x00-\x1f\x7f@]*?([\w.-]+?)(?:\.git)?/*", re.A
)
_REF = re.compile(r"\w(?:[\w/-]|\.(?!\.)){0,199}", re.A)  # not an option or a refspec
# Disables the user's filters, which could download more.
_ATTRIBUTES: Final = "* -filter -ident -text -working-tree-encoding\n"


def forget_remotes(cache: Path) -> None:
    """Delete all fetched repositories."""
    shutil.rmtree(cache / _FOLDER, ignore_errors=True)


class Remote(NamedTuple):
    url: str
    name: str
    ref: str = "HEAD"

    @classmethod
    def parse(cls, text: str) -> "Remote":
        """Parse the address of a repository: ``OWNER/NAME[@REF]`` on GitHub, or a URL."""
        if hosted := _HOSTED.fullmatch(text):
            path, name, ref = hosted.groups("HEAD")
            if not _REF.fullmatch(ref):
                raise ConfigError(f"--remote: {ref[:100]!r} is not a branch, tag or commit")
            return cls(f"https://github.com/{path}", name, ref)
        if address := _ADDRESS.fullmatch(text):
            return cls(text, address[1])
        raise ConfigError(
            "--remote must be OWNER/NAME[@REF], or an address of https, ssh or file without a password"
        )

    def fetch(self) -> Path:
        """Fetch the commit, without its history, into the cache; return the folder with the files."""
        cache = cache_folder()
        if cache is None:
            raise OutputError("no home folder for the clone: set AGGREGATE_CACHE_DIR")
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
        environment = guarded_environment(str(folder), os.environ)
        program = find_program("git", outside=(folder,), safe_path=environment["PATH"])
        if program is None:
            raise OutputError(f"{self.url} cannot be fetched: the program git is not installed")
        # Only the user's transport; redirections cannot choose another.
        environment["GIT_ALLOW_PROTOCOL"] = self.url.partition(":")[0]
        try:  # in its own session it cannot prompt for a password
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
            errors = done.stderr.decode("utf-8", "replace")
            fatal = re.search(r"^fatal: (.+)", errors, re.M)
            reason = printable(fatal[1] if fatal else errors.strip())[:_LONGEST]
            raise OutputError(f"{self.url} cannot be fetched: {reason}")
