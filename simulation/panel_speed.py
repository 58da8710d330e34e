"""How quickly the panel answers: ``python -m simulation.panel_speed TREE``.

A server is started in TREE, with or without a configuration, asked as a page asks it, and ended. Seconds are of
the wall, milliseconds of processor time (``cpu``) are of the server. The tree is edited once, and restored.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from statistics import median
from typing import Any

TASK = "fix the migration autodetector for renamed fields"
EDITED = 4
"""Files whose views are set."""
BUDGETS = (8_000, 16_000, 32_000, 12_000, 24_000, 48_000)
_TICKS = os.sysconf("SC_CLK_TCK")


class Page:
    """Asks a panel as its page does."""

    def __init__(self, url: str) -> None:
        self.base = url.split("/?", maxsplit=1)[0]
        cookies = urllib.request.HTTPCookieProcessor(CookieJar())
        self.opener = urllib.request.build_opener(cookies)
        self.opener.open(url).read()

    def get(self, route: str) -> Any:  # noqa: ANN401 - whatever is answered
        """Return what a question is answered with."""
        with self.opener.open(f"{self.base}/api/{route}") as answer:
            return json.load(answer)

    def post(self, route: str, **body: object) -> Any:  # noqa: ANN401 - as above
        """Return what an action is answered with."""
        headers = {
            "Origin": self.base,
            "X-Aggregate": "1",
            "Content-Type": "application/json",
        }
        data = json.dumps(body).encode()
        request = urllib.request.Request(f"{self.base}/api/{route}", data, headers)  # noqa: S310
        with self.opener.open(request) as answer:
            return json.load(answer)

    def settle(self) -> None:
        """Wait until the prompt is that of the newest draft."""
        while True:
            state = self.get("state")
            if state["composed"] == state["revision"]:
                return
            time.sleep(0.02)


@contextmanager
def server(tree: Path) -> Iterator[tuple[int, str, float]]:
    """Give a server's process, its address, and when it was started."""
    command = [sys.executable, "-m", "aggregate", "panel", "--no-open", "--port", "0"]
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=tree, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None  # noqa: S101 - for type checkers
        yield process.pid, process.stdout.readline().strip(), started
    finally:
        ended = time.perf_counter()
        process.send_signal(signal.SIGINT)
        process.wait()
        print(f"end             {time.perf_counter() - ended:6.2f} s")


def cpu_ms(pid: int) -> float:
    """Return the processor time that a process has taken, in milliseconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / _TICKS


def memory_mb(pid: int) -> float:
    """Return the memory of a process, in megabytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1000


def measure(tree: Path) -> None:
    """Print what the panel of a tree takes."""
    with server(tree) as (pid, url, started):
        page = Page(url)
        print(f"first answer    {time.perf_counter() - started:6.2f} s")
        page.get("state")
        print(f"state           {time.perf_counter() - started:6.2f} s")
        files = page.get("files")
        print(f"{len(files['path']):,} files   {time.perf_counter() - started:6.2f} s")
        page.settle()
        _fit(page, pid)
        _edit_views(page, pid)
        _edit_on_disk(page, tree, files["path"])
        print(f"memory          {memory_mb(pid):6.0f} MB")


def _fit(page: Page, pid: int) -> None:
    for task in (f"{TASK} once", TASK):  # the first question analyses what the index does not know
        page.post("edit", revision=0, edits=[{"op": "task", "task": task, "budget": BUDGETS[0]}])
        page.settle()
    taken = []
    for budget in (*BUDGETS, *BUDGETS):
        before, started = cpu_ms(pid), time.perf_counter()
        page.post("fit", budget=budget)
        taken.append((cpu_ms(pid) - before, (time.perf_counter() - started) * 1000))
    again = taken[len(BUDGETS) :]
    for name, rows in (("fit, new budget", taken[: len(BUDGETS)]), ("fit, known one", again)):
        processor, wall = (median(column) for column in zip(*rows, strict=True))
        print(f"{name} {processor:6.0f} ms cpu, {wall:.0f} ms")


def _edit_views(page: Page, pid: int) -> None:
    """Print what it takes to set the view of a file that the prompt shows, beside a task and a budget."""
    files = page.get("files")
    shown = [path for path, view in zip(files["path"], files["view"], strict=True) if view]
    answered, composed = [], []
    for mode in ("outline", "skeleton", "full"):
        for path in shown[:EDITED]:
            before, started = cpu_ms(pid), time.perf_counter()
            page.post("edit", revision=0, edits=[{"op": "view", "paths": [path], "mode": mode}])
            answered.append((time.perf_counter() - started) * 1000)
            page.settle()
            composed.append((cpu_ms(pid) - before, (time.perf_counter() - started) * 1000))
    processor, wall = (median(column) for column in zip(*composed, strict=True))
    print(
        f"view set        {median(answered):6.0f} ms, its prompt {processor:.0f} ms cpu, {wall:.0f} ms"
    )


def _edit_on_disk(page: Page, tree: Path, paths: list[str]) -> None:
    """Print how long after a change on the disk its event comes."""
    file = tree / next(path for path in paths if path.endswith(".py"))
    text = file.read_bytes()
    arrived = threading.Event()
    events = page.opener.open(f"{page.base}/api/events")

    def listen() -> None:
        for line in events:
            if line.startswith(b"data:") and json.loads(line[5:])["what"] == "disk":
                arrived.set()
                return

    threading.Thread(target=listen, daemon=True).start()
    time.sleep(0.5)
    started = time.perf_counter()
    try:
        file.write_bytes(text + b"\n")
        came = arrived.wait(10)
        print(
            f"event           {(time.perf_counter() - started) * 1000:6.0f} ms{'' if came else ': none'}"
        )
    finally:
        file.write_bytes(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure the panel's answers.")
    parser.add_argument("tree", type=Path)
    measure(parser.parse_args().tree)
