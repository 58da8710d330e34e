"""``completion``: what a shell needs to complete commands and options, printed or installed."""

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import click
from click.shell_completion import ShellComplete, get_completion_class
from platformdirs import user_data_path

from aggregate.base.disk import home_folder, replace_text
from aggregate.base.errors import OutputError
from aggregate.base.text import BrokenBlockError, with_block, without_block
from aggregate.cli.output import say, write_path, write_result

_HEADER: Final = "# Written by aggregate completion --install; --uninstall removes it.\n"
_VARIABLE: Final = "_AGGREGATE_COMPLETE"
"""The environment variable by which a shell asks for completions; click makes it of the program's name."""


class _Shell(NamedTuple):
    """One shell.

    Attributes:
        script: Returns where the script for it lies.
        start_file: Returns its start-up file, which loads the script; ``None`` where it finds scripts itself.
        prepare: A line that stands before the one that loads the script.
    """

    script: Callable[[], Path]
    start_file: Callable[[], Path] | None = None
    prepare: str = ""


def _home() -> Path:
    """Return the user's home folder.

    Raises:
        OutputError: There is none, or the environment names one that depends on the current folder.
    """
    home = home_folder()
    if os.environ.get("HOME") == "" or not home.is_absolute() or not home.is_dir():
        raise OutputError(
            "there is no home folder to install in: set HOME, or print the script with aggregate completion SHELL"
        )
    return home


def _data_folder() -> Path:
    _home()  # without one the library raises, or answers with a relative path
    return user_data_path("manual_slop", appauthor=False)


def _fish_folder() -> Path:
    config = os.environ.get("XDG_CONFIG_HOME")
    return (Path(config) if config else _home() / ".config") / "fish"


_SHELLS: Final = {
    "bash": _Shell(lambda: _data_folder() / "completion.bash", lambda: _home() / ".bashrc"),
    "zsh": _Shell(
        lambda: _data_folder() / "completion.zsh",
        lambda: Path(os.environ.get("ZDOTDIR") or _home()) / ".zshrc",
        "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }",
    ),
    "fish": _Shell(lambda: _fish_folder() / "completions" / "aggregate.fish"),
}


@click.command()
@click.argument("shell", required=False, type=click.Choice(list(_SHELLS)))
@click.option(
    "--install",
    "action",
    flag_value="install",
    help="Write the script to a file and have the shell load it.",
)
@click.option("--uninstall", "action", flag_value="uninstall", help="Take back what --install did.")
def completion(shell: str | None, action: str | None) -> None:
    """Print the script by which SHELL completes commands and options, or install it.

    SHELL is bash, zsh or fish; by default your login shell. The paths of the files that were changed are printed. What
    is installed asks this program for completions, and is to be installed anew only when its place changes.
    """
    name = shell or _login_shell()
    if action == "install":
        _install(name)
    elif action == "uninstall":
        _uninstall(name)
    else:
        write_result(_script(name))


def _login_shell() -> str:
    """Return the shell that the system starts for this user.

    Raises:
        UsageError: It is none of those that are known.
    """
    name = Path(os.environ.get("SHELL", "")).stem
    if name not in _SHELLS:
        known = ", ".join(_SHELLS)
        raise click.UsageError(f"your login shell is none of {known}: name one of them")
    return name


def _script(name: str) -> str:
    """Return the script for a shell.

    Raises:
        UsageError: The installed click does not know the shell.
    """
    known = get_completion_class(name)
    if known is None:
        raise click.UsageError(f"{name} is not known to the installed click: upgrade it")
    # Of the base class: that of bash starts a bash to ask for its version.
    script = ShellComplete.source(known(click.Command("aggregate"), {}, "aggregate", _VARIABLE))
    return _HEADER + script if name != "zsh" else script.replace("\n", f"\n{_HEADER}", 1)


def _install(name: str) -> None:
    """Write the script and the lines that load it, as far as they are not there.

    Raises:
        OutputError: A file is somebody else's, cannot be read as text, or cannot be written.
    """
    shell = _SHELLS[name]
    script, start_file = shell.script(), shell.start_file and shell.start_file()
    changed: list[Path] = []
    present = _read(script)
    if present and _HEADER not in present:
        raise OutputError(f"{script} is there and not ours: move it away, or take its lines over")
    if present != _script(name):
        replace_text(script, _script(name))
        changed.append(script)
    if start_file:
        quoted = shlex.quote(script.as_posix())
        lines = "\n".join(filter(None, (shell.prepare, f"[ ! -r {quoted} ] || . {quoted}")))
        changed += _edit(start_file, lambda text: with_block(text, lines), add=lines)
    for path in changed:
        write_path(path)
    if not changed:
        say(f"completion for {name} is installed already")
    else:
        say(f"open a new {name}, and press the tabulator behind aggregate")


def _uninstall(name: str) -> None:
    """Take back what ``_install`` did.

    Raises:
        OutputError: A file cannot be read as text, or cannot be written.
    """
    shell = _SHELLS[name]
    script = shell.script()
    changed = _edit(shell.start_file(), without_block) if shell.start_file else []
    if _HEADER in _read(script):
        try:
            script.unlink()
        except OSError as error:
            raise OutputError(f"cannot delete {script}: {error.strerror or error}") from error
        changed.append(script)
    for path in changed:
        write_path(path)
    if not changed:
        say(f"completion for {name} is not installed")


def _edit(path: Path, change: Callable[[str], str], *, add: str = "") -> list[Path]:
    """Change a start-up file, and return it if that made a difference.

    Raises:
        OutputError: It is no text, or was edited so that our lines cannot be told from the user's; the sentence says
            what to do by hand.
    """
    lines = "; ".join(add.splitlines())
    by_hand = f"; add to it yourself: {lines}" if add else "; take our lines out yourself"
    try:
        text = _read(path)
        changed = change(text)
    except BrokenBlockError as error:
        raise OutputError(f"{path} is left as it is: {error}{by_hand}") from error
    except OutputError as error:
        raise OutputError(f"{error}{by_hand}") from error
    if changed == text:
        return []
    replace_text(path, changed)
    return [path]


def _read(path: Path) -> str:
    """Return what a file holds, its line breaks as they are; ``""`` where there is none.

    Raises:
        OutputError: It cannot be read as text.
    """
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise OutputError(f"{path} is left as it is: byte {error.start} is not UTF-8") from error
    except OSError as error:
        raise OutputError(f"cannot read {path}: {error.strerror or error}") from error
