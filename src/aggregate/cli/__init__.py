"""The command line: read options, run the pipeline, print.

Standard output is for results only; messages go to standard error. Exit codes: ``0`` success, ``1`` failure (a file
cannot be written), ``2`` a mistake in the command or the configuration, ``70`` an unexpected error, ``130``
interrupted, 128 plus the number of a signal that ended ``run``.
"""

import os
import sys

_INTERRUPTED = 130  # exit code, as shells use it
_HELPS = {"-h", "--help", "--help-all", "--version"}


def main() -> None:
    try:
        code = _run()
    except KeyboardInterrupt:  # while the program, which handles later ones, is loaded
        sys.stderr.write("aggregate: interrupted\n")
        code = _INTERRUPTED
    raise SystemExit(code)


def _run() -> int:
    this = None
    if _may_repeat(sys.argv[1:]):
        from aggregate.cli import replay  # takes 10 ms

        this = replay.this_run(sys.argv[1:])
        if this and this.earlier and not this.changed:
            code = replay.repeat(this.earlier)
            if code is not None:
                return code
    from aggregate.base.disk.programs import guard_process  # a repeated run starts no program

    guard_process()
    # Finding plugins reads the metadata of every installed package, and runs foreign code.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from aggregate.cli.program import run_process  # after PATH is clean

    return run_process(this)


def _may_repeat(arguments: list[str]) -> bool:
    first = arguments[0] if arguments else "run"
    is_remembered = first in ("run", "stats") or first.startswith("-") or " " in first
    return is_remembered and _HELPS.isdisjoint(arguments)
