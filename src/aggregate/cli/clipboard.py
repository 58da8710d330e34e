"""The clipboard: through the desktop's own program, or through the terminal where that is all there is.

pyperclip does the same, but runs what an empty entry of PATH leads to, which may lie in somebody else's project, and
leaves its program our standard output, so that ``$(aggregate run --copy)`` would wait for it for ever.
"""

import base64
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from aggregate.cli.output import write_to_terminal
from aggregate.disk.programs import find_program
from aggregate.errors import OutputError

_SECONDS: Final = 10
"""For a program that takes a text and goes into the background: it answers at once, or not at all."""
_TERMINAL_BYTES: Final = 74_994
"""What every terminal takes that knows OSC 52: the sequence with it in base64 has 100,000 bytes."""


class _Program(NamedTuple):
    """A program that takes the clipboard's new text on its standard input.

    Attributes:
        command: Its name and options.
        variable: The environment variable without which it has no clipboard to write to.
        system: The only system that has it.
        encoding: What it expects.
    """

    command: tuple[str, ...]
    variable: str = ""
    system: str = ""
    encoding: str = "utf-8"

    def is_usable(self, environment: Mapping[str, str]) -> bool:
        """Tell whether it has a clipboard here, if it is installed."""
        is_here = not self.system or sys.platform == self.system
        return is_here and (not self.variable or bool(environment.get(self.variable)))


_PROGRAMS: Final = (
    _Program(("pbcopy",), system="darwin"),
    _Program(("clip",), system="win32", encoding="utf-16"),
    _Program(("wl-copy",), "WAYLAND_DISPLAY"),
    _Program(("xclip", "-selection", "clipboard", "-in"), "DISPLAY"),
    _Program(("xsel", "--clipboard", "--input"), "DISPLAY"),
    _Program(("clip.exe",), "WSL_DISTRO_NAME", encoding="utf-16"),
    _Program(("termux-clipboard-set",), "TERMUX_VERSION"),
)
_TMUX: Final = _Program(("tmux", "load-buffer", "-w", "-"), "TMUX")
"""Passes a text on to the terminals that show it, which tmux refuses to programs by its usual settings."""


def copy_to_clipboard(data: bytes, *, environment: Mapping[str, str] = os.environ) -> str:
    """Put a text in UTF-8 onto the clipboard of whoever sits before the screen; return a sentence that says how.

    Over ssh that is the terminal's, since a display of the other machine shows nobody anything.

    Raises:
        OutputError: There is no clipboard, or none that takes it.
    """
    is_remote = any(environment.get(name) for name in ("SSH_TTY", "SSH_CONNECTION"))
    ways: list[Callable[[], str]] = [
        lambda: _by_programs(data, _PROGRAMS, environment),
        lambda: _by_programs(data, (_TMUX,), environment) or _by_terminal(data, environment),
    ]
    for way in reversed(ways) if is_remote else ways:
        if how := way():
            return how
    raise OutputError(
        "there is no clipboard to copy to: on a desktop install wl-clipboard, xclip or xsel, over ssh use a terminal "
        "that knows OSC 52, such as kitty, WezTerm, iTerm2 or Windows Terminal"
    )


def _by_programs(
    data: bytes, programs: tuple[_Program, ...], environment: Mapping[str, str]
) -> str:
    """Return what was said to the first program that took the text, ``""`` where none did."""
    for program in programs:
        path = find_program(program.command[0]) if program.is_usable(environment) else None
        if path and _run(path, program, data, environment):
            return f"copied to the clipboard ({program.command[0]})"
    return ""


def _run(path: str, program: _Program, data: bytes, environment: Mapping[str, str]) -> bool:
    """Tell whether the program took the text."""
    text = data if program.encoding == "utf-8" else data.decode().encode(program.encoding)
    command = [path, *program.command[1:]]
    try:
        done = subprocess.run(
            command,
            input=text,
            # It lives on as long as it holds the text, and must not hold our output.
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**environment, "LC_CTYPE": "UTF-8"},  # else pbcopy takes the text for Mac Roman
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def _by_terminal(data: bytes, environment: Mapping[str, str]) -> str:
    """Return what was said to the terminal, ``""`` where there is none. Whether it took the text, no terminal tells."""
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
