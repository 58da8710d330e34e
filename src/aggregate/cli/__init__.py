"""The command line: it reads options, calls the pipeline, and prints.

Standard output carries the result only; everything else goes to standard error. Exit codes: ``0`` done, ``1`` the work
failed (a file cannot be written), ``2`` a mistake in the command or the configuration, ``70`` an error that nobody
foresaw, ``130`` interrupted, 128 and a signal's number where that ended ``run``.
"""

import os
import sys

_INTERRUPTED = 130  # exit code of what a person has interrupted, as shells have it
_HELPS = {"-h", "--help", "--help-all", "--version"}


def main() -> None:
    try:
        code = _run()
    except KeyboardInterrupt:  # before the program was loaded, which tells of later ones itself
        sys.stderr.write("aggregate: interrupted\n")
        code = _INTERRUPTED
    raise SystemExit(code)


def _run() -> int:
    this = None
    if _may_repeat(sys.argv[1:]):
        from aggregate.cli import remembered  # 10 ms, which other commands do without

        this = remembered.this_run(sys.argv[1:])
        earlier = this and this.earlier
        if earlier and not earlier.changed:
            code = remembered.repeat(earlier.run)
            if code is not None:
                return code
    from aggregate.base.disk.programs import guard_process  # a run that is repeated starts none

    guard_process()
    # Plugins of the library that checks configurations could only watch this program; looking for them reads the
    # metadata of everything installed, and what it finds is run.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from aggregate.cli.program import run_process  # nothing is loaded before PATH is clean

    return run_process(this)


def _may_repeat(arguments: list[str]) -> bool:
    """Tell whether this may be a command that is remembered: ``run``, by its name or without, or ``stats``."""
    first = arguments[0] if arguments else "run"
    is_one = first in ("run", "stats") or first.startswith("-") or " " in first
    return is_one and _HELPS.isdisjoint(arguments)
