"""Serves the tiny model in a process of its own, which whoever has started it kills: ``python -m`` with a folder.

The server's own end waits for ever now and then.
"""

import sys
from importlib import import_module
from pathlib import Path
from threading import Event

from tests.fakes.tiny_model import CONTEXT, write_model


def main() -> None:
    xllamacpp = import_module("xllamacpp")  # which has no types
    params = xllamacpp.CommonParams()
    params.model.path = str(write_model(Path(sys.argv[1]) / "tiny.gguf"))
    params.port, params.n_ctx, params.n_parallel, params.warmup = 0, CONTEXT, 1, False
    params.cpuparams.n_threads = 1
    params.verbosity = -1
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    Event().wait()


if __name__ == "__main__":
    main()
