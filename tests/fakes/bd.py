"""A stand-in for the program ``bd``: a script that prints what the test says and notes how it was called."""

import shlex
from collections.abc import Mapping
from pathlib import Path


def install_bd(
    folder: Path,
    *,
    output: str = "[]",
    messages: str = "",
    status: int = 0,
    refuses: str = "",
    sleeps: int = 0,
) -> Mapping[str, str]:
    """Write the script into ``folder`` and return an environment whose ``PATH`` finds it.

    Args:
        folder: Created if missing; ``calls`` in it gets one line of arguments for each call.
        output: Printed to the standard output.
        messages: Printed to the standard error.
        status: The exit status.
        refuses: A flag that makes it fail as an unknown one.
        sleeps: Seconds that a child of the script holds its output open.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "output").write_text(output, encoding="utf-8")
    (folder / "messages").write_text(messages, encoding="utf-8")
    here = shlex.quote(str(folder))
    lines = [
        "#!/bin/sh",
        f'echo "$@" >> {here}/calls',
        f"pwd > {here}/cwd",
        *(
            [f'case "$*" in *{refuses}*) echo "Error: unknown flag: {refuses}" >&2; exit 1;; esac']
            if refuses
            else []
        ),
        *([f"/bin/sleep {sleeps} & wait"] if sleeps else []),
        f"/bin/cat {here}/messages >&2",
        f"/bin/cat {here}/output",
        f"exit {status}",
    ]
    script = folder / "bd"
    script.write_text("\n".join(lines) + "\n", encoding="utf-8")
    script.chmod(0o755)
    return {"PATH": str(folder)}


def calls(folder: Path) -> list[str]:
    return (folder / "calls").read_text(encoding="utf-8").splitlines()
