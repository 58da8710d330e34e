"""Repositories whose configuration names a program that git would run: a function for each way."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.project.repository import ENVIRONMENT, git

Attack = Callable[[Path, Path], Path]
"""Makes a repository below a folder that would run a program; returns the folder to look into."""

_SIGNED = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n"


def repository(folder: Path) -> Path:
    """Make a repository with two commits of one file."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    git(folder, "config", "user.name", "Mallory")
    git(folder, "config", "user.email", "m@example.org")
    for text in ("one\n", "two\n"):
        (folder / "a.py").write_text(text, encoding="utf-8")
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", text)
    return folder


def clean_filter(folder: Path, program: Path) -> Path:
    """A filter that cleans files before they are compared; the index is as old as the files, so contents are."""
    return _filtered(folder, "clean", program)


def process_filter(folder: Path, program: Path) -> Path:
    """A filter that runs as a service."""
    return _filtered(folder, "process", program)


def included_filter(folder: Path, program: Path) -> Path:
    """A filter in a file of the project that the repository's configuration includes."""
    root = repository(folder)
    (root / ".gitattributes").write_text("* filter=odd.näme\n", encoding="utf-8")
    (root / "more.txt").write_text(f'[filter "odd.näme"]\n clean = {program}\n', encoding="utf-8")
    git(root, "config", "include.path", "../more.txt")
    return _racy(root)


def unnameable_filter(folder: Path, program: Path) -> Path:
    """A filter whose name no option of git's command line can hold."""
    root = repository(folder)
    with (root / ".git" / "config").open("a", encoding="utf-8") as file:
        file.write(f'[filter "a=b"]\n clean = {program}\n')
    (root / ".git" / "info" / "attributes").write_text("* filter=a=b\n", encoding="utf-8")
    return _racy(root)


def text_conversion(folder: Path, program: Path) -> Path:
    """A program that turns files into text for a diff."""
    root = repository(folder)
    git(root, "config", "diff.d.textconv", str(program))
    (root / ".git" / "info" / "attributes").write_text("* diff=d\n", encoding="utf-8")
    return _changed(root)


def external_diff(folder: Path, program: Path) -> Path:
    """Programs that compare files instead of git."""
    root = repository(folder)
    git(root, "config", "diff.external", str(program))
    git(root, "config", "diff.d.command", str(program))
    (root / ".git" / "info" / "attributes").write_text("* diff=d\n", encoding="utf-8")
    return _changed(root)


def monitor(folder: Path, program: Path) -> Path:
    """A program that tells git which files have changed."""
    root = repository(folder)
    git(root, "config", "core.fsmonitor", str(program))
    return _changed(root)


def hooks(folder: Path, program: Path) -> Path:
    """Hooks of every name, one of which runs when git refreshes its index."""
    root = repository(folder)
    names = [
        path.name.removesuffix(".sample") for path in (root / ".git" / "hooks").glob("*.sample")
    ]
    for name in {*names, "post-index-change", "reference-transaction", "post-checkout"}:
        (root / ".git" / "hooks" / name).unlink(missing_ok=True)
        (root / ".git" / "hooks" / name).symlink_to(program)
    git(root, "config", "core.untrackedCache", "true")
    return _changed(root)


def signatures(folder: Path, program: Path) -> Path:
    """A program that checks the signatures of commits whenever they are listed."""
    root = repository(folder)
    head, _, message = git(root, "cat-file", "commit", "HEAD").decode().partition("\n\n")
    commit = f"{head}\n{_SIGNED}{message}"
    command = ["git", "-C", str(root), "hash-object", "-t", "commit", "-w", "--stdin"]
    made = subprocess.run(
        command, env=ENVIRONMENT, input=commit.encode(), check=True, capture_output=True
    ).stdout
    git(root, "update-ref", "HEAD", made.decode().strip())
    for name in ("gpg.program", "gpg.openpgp.program", "gpg.ssh.program"):
        git(root, "config", name, str(program))
    git(root, "config", "log.showSignature", "true")
    return root


def promisor(folder: Path, program: Path) -> Path:
    """Missing objects that git fetches from where a program is run instead of ``git-upload-pack``."""
    root = _promised(folder)
    git(root, "config", "remote.origin.uploadpack", str(program))
    git(root, "config", "protocol.file.allow", "always")
    return root


def promisor_by_ext(folder: Path, program: Path) -> Path:
    """Missing objects that git fetches by running a program, which the repository allows."""
    root = _promised(folder)
    git(root, "config", "remote.origin.url", f"ext::{program} x")
    git(root, "config", "protocol.ext.allow", "always")
    return root


def promisor_by_ssh(folder: Path, program: Path) -> Path:
    """Missing objects that git fetches by a program in the place of ssh, with more for credentials."""
    root = _promised(folder)
    git(root, "config", "remote.origin.url", "ssh://example.org/x")
    for name in ("core.sshCommand", "core.askPass", "core.gitProxy", "core.alternateRefsCommand"):
        git(root, "config", name, str(program))
    git(root, "config", "credential.helper", f"!{program}")
    return root


def embedded_bare_repository(folder: Path, program: Path) -> Path:
    """A bare repository among a clone's own files, which git finds when it is started in there."""
    inner = repository(folder) / "lib"
    inner.mkdir()
    git(inner, "init", "-q", "--bare", ".")
    for name, value in (
        ("core.bare", "false"),
        ("core.worktree", "."),
        ("core.fsmonitor", str(program)),
    ):
        git(inner, f"--git-dir={inner}", "config", name, value)
    (inner / "b.py").write_text("b = 1\n", encoding="utf-8")
    return inner


def submodule(folder: Path, program: Path) -> Path:
    """A repository within that has filters of its own, entered where submodules are compared."""
    inner = repository(folder / "inner")
    root = repository(folder)
    git(root, "config", "submodule.recurse", "true")
    git(root, "config", "diff.submodule", "log")
    _clean_by(program, inner)
    return root


def worktree_elsewhere(folder: Path, program: Path) -> Path:
    """A ``.git`` file that points to another folder, whose configuration names programs."""
    other = clean_filter(folder / "other", program)
    git(other, "config", "core.fsmonitor", str(program))
    root = folder / "project"
    root.mkdir()
    (root / ".git").write_text(f"gitdir: {other}/.git\n", encoding="utf-8")
    (root / "a.py").write_text("xyz\n", encoding="utf-8")
    return root


ATTACKS: tuple[Attack, ...] = (
    clean_filter, process_filter, included_filter, unnameable_filter, text_conversion, external_diff,
    monitor, hooks, signatures, promisor, promisor_by_ext, promisor_by_ssh, embedded_bare_repository, submodule,
    worktree_elsewhere,
)  # fmt: skip


def _filtered(folder: Path, kind: str, program: Path) -> Path:
    return _clean_by(program, repository(folder), kind)


def _clean_by(program: Path, root: Path, kind: str = "clean") -> Path:
    (root / ".git" / "info" / "attributes").write_text("* filter=f\n", encoding="utf-8")
    git(root, "config", f"filter.f.{kind}", str(program))
    return _racy(root)


def _racy(root: Path) -> Path:
    """Make the index older than the files that it lists, so that git compares their contents."""
    os.utime(root / ".git" / "index", (1_000_000_000, 1_000_000_000))
    return root


def _changed(root: Path) -> Path:
    (root / "a.py").write_text("three\n", encoding="utf-8")
    return root


def _promised(folder: Path) -> Path:
    """Make a repository whose trees are missing and promised by a remote."""
    source = repository(folder / "source")
    git(source, "config", "uploadpack.allowFilter", "true")
    root = folder / "clone"
    url = source.as_uri()
    git(folder, "clone", "-q", "--filter=tree:0", "--no-checkout", "--no-local", url, str(root))
    return root
