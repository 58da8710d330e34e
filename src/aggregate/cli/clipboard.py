"""The clipboard: through the desktop's own program, or through the terminal where that is all there is.

pyperclip does the same, but runs what an empty entry of PATH leads to, which may lie in somebody else's project, and
leaves its program our standard output, so that ``$(aggregate run --copy)`` would wait for it for ever.
"""

import base64
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from tempfile import TemporaryFile
from typing import NamedTuple

from aggregate.base.disk.programs import find_program
from aggregate.base.errors import OutputError
from aggregate.cli.output import write_to_terminal

_SECONDS = 5  # for all programs together: each goes into the background at once, or has nobody to give it to
_TERMINAL_BYTES = 74_994  # what every terminal takes that knows OSC 52: 100,000 bytes in base64
_ERROR_BYTES = 200  # of what a program says of its failure: a sentence


class _Program(NamedTuple):
    command: tuple[str, ...]
    variable: str = ""  # set where it has a clipboard
    system: str = ""
    encoding: str = "utf-8"


_PROGRAMS = (
    _Program(("pbcopy",), system="darwin"),
    _Program(("clip",), system="win32", encoding="utf-16"),
    _Program(("wl-copy",), "WAYLAND_DISPLAY"),
    _Program(("xclip", "-selection", "clipboard", "-in"), "DISPLAY"),
    _Program(("xsel", "--clipboard", "--input"), "DISPLAY"),
    _Program(("clip.exe",), "WSL_DISTRO_NAME", encoding="utf-16"),
    _Program(("termux-clipboard-set",), "TERMUX_VERSION"),
)
# Passes a text on to the terminals that show it, which tmux refuses to programs by its usual settings.
_TMUX = _Program(("tmux", "load-buffer", "-w", "-"), "TMUX")


def copy_to_clipboard(
    data: bytes,
    *,
    environment: Mapping[str, str] = os.environ,
    system: str = sys.platform,
    seconds: float = _SECONDS,
) -> str:
    """Return a sentence that says how; over ssh it is the terminal's, since a display there shows nobody anything."""
    usable = [
        program
        for program in (*_PROGRAMS, _TMUX)
        if program.system in ("", system)
        and (not program.variable or environment.get(program.variable))
    ]
    ways: list[_Program | None] = [*usable, None]
    if any(environment.get(name) for name in ("SSH_TTY", "SSH_CONNECTION")):
        tmux = [_TMUX] if _TMUX in usable else []
        ways = [*tmux, None, *(program for program in usable if program is not _TMUX)]
    failures: list[str] = []
    end = time.monotonic() + seconds
    for program in ways:
        if program is None:
            how = _by_terminal(data, environment)
        elif path := find_program(program.command[0], path=environment.get("PATH")):
            # One more gets a second though others have hung.
            left = max(1.0, end - time.monotonic())
            failure = _run(path, program, data, environment, seconds=left)
            failures += [f"{program.command[0]} {failure}"] if failure else []
            how = "" if failure else f"copied to the clipboard ({program.command[0]})"
        else:
            continue
        if how:
            return "; ".join((how, *failures))
    if failures:
        raise OutputError(f"nothing was copied: {', '.join(failures)}")
    raise OutputError(
        "there is no clipboard to copy to: on a desktop install wl-clipboard, xclip or xsel, over ssh use a terminal "
        "that knows OSC 52, such as kitty, WezTerm, iTerm2 or Windows Terminal"
    )


def _run(
    path: str, program: _Program, data: bytes, environment: Mapping[str, str], *, seconds: float
) -> str:
    is_utf8 = program.encoding == "utf-8"
    # A file, since a pipe would be held by what stays in the background as long as it holds the text.
    with TemporaryFile() as errors:
        try:
            done = subprocess.run(
                [path, *program.command[1:]],
                input=data if is_utf8 else data.decode(errors="replace").encode(program.encoding),
                stdout=subprocess.DEVNULL,
                stderr=errors,
                # Else pbcopy takes the text for Mac Roman.
                env={**environment, "LC_CTYPE": "UTF-8"},
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"did not answer within {seconds:.0f} s"
        except OSError as error:
            return f"cannot be started: {error.strerror or error}"
        errors.seek(0)
        said = " ".join(errors.read(_ERROR_BYTES).decode(errors="replace").split())
    return f"ended with {done.returncode}{f' ({said})' if said else ''}" if done.returncode else ""


def _by_terminal(data: bytes, environment: Mapping[str, str]) -> str:
    sequence = f"\x1b]52;c;{base64.b64encode(data).decode()}\x07"
    if environment.get("TMUX"):  # by its own command tmux has refused
        escaped = sequence.replace("\x1b", "\x1b\x1b")
        sequence = f"\x1bPtmux;{escaped}\x1b\\"
    if not write_to_terminal(sequence):
        return ""
    how = "handed to the terminal for its clipboard (OSC 52)"
    if len(data) > _TERMINAL_BYTES:
        how += (
            f"; it has {len(data):,} bytes and many terminals take {_TERMINAL_BYTES:,}: if nothing was copied, copy "
            "the file"
        )
    return how
