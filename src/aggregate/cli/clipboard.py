"""Copy to the clipboard with a program, or through the terminal.

pyperclip would pass our standard output on to its program, so ``$(aggregate run --copy)`` would never end.
"""

import base64
import os
import subprocess
from collections.abc import Mapping
from tempfile import TemporaryFile

from aggregate.base.disk.programs import find_program
from aggregate.base.errors import OutputError
from aggregate.cli.output import write_to_terminal

_SECONDS = 5  # timeout: a working program goes into the background at once
_TERMINAL_BYTES = 74_994  # accepted by every terminal with OSC 52: 100,000 bytes in base64
_ERROR_BYTES = 200  # of a program's error output: about a sentence
# Environment variable of a usable clipboard, and its command.
_PROGRAMS = (
    ("PATH", ("pbcopy",)),  # exists on macOS only
    ("SYSTEMROOT", ("clip",)),
    ("WSL_DISTRO_NAME", ("clip.exe",)),
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard", "-in")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
)


def copy_to_clipboard(data: bytes, *, environment: Mapping[str, str] = os.environ) -> str:
    """Copy ``data``, in an ssh session through the terminal; return a sentence about the result."""
    failure = ""
    is_remote = environment.get("SSH_TTY") or environment.get("SSH_CONNECTION")
    for variable, command in () if is_remote else _PROGRAMS:
        path = find_program(command[0], path=environment.get("PATH"))
        if not path or not environment.get(variable):
            continue
        failure = _run([path, *command[1:]], data, environment)
        if not failure:
            return f"copied to the clipboard ({command[0]})"
    if write_to_terminal(f"\x1b]52;c;{base64.b64encode(data).decode()}\x07"):
        size = f"; it has {len(data):,} bytes and many terminals take {_TERMINAL_BYTES:,}"
        report = "handed to the terminal for its clipboard (OSC 52)"
        return report + size if len(data) > _TERMINAL_BYTES else report
    if failure:
        raise OutputError(f"nothing was copied: {failure}")
    raise OutputError(
        "there is no clipboard to copy to: on a desktop install wl-clipboard, xclip or xsel, over ssh use a terminal "
        "that knows OSC 52, such as kitty, WezTerm, iTerm2 or Windows Terminal"
    )


def _run(command: list[str], data: bytes, environment: Mapping[str, str]) -> str:
    name = os.path.basename(command[0])  # noqa: PTH119 - text in, text out
    is_windows = name.lower().startswith("clip")
    # A file: the program in the background would keep a pipe open.
    with TemporaryFile() as errors:
        try:
            done = subprocess.run(
                command,
                input=data.decode(errors="replace").encode("utf-16") if is_windows else data,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env={**environment, "LC_CTYPE": "UTF-8"},  # else pbcopy assumes Mac Roman
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"{name} did not answer within {_SECONDS} s"
        except OSError as error:
            return f"{name} cannot be started: {error.strerror or error}"
        errors.seek(0)
        message = " ".join(errors.read(_ERROR_BYTES).decode(errors="replace").split())
    reason = f" ({message})" if message else ""
    return f"{name} ended with {done.returncode}{reason}" if done.returncode else ""
