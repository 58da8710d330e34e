"""What the pipeline costs on a real tree, as ratios measured in one run.

``python -m simulation.pipeline TREE`` takes any folder with source files; the Django sdist is the reference. Each
figure comes from processes of its own, in turns with what it is compared to, and is the median of the rounds. Machines
are shared and noisy: quote the ratios, not the seconds.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROUNDS = 3


def main() -> None:
    """Run all measurements, or one of them in this process."""
    parser = argparse.ArgumentParser(prog="python -m simulation.pipeline", description=__doc__)
    parser.add_argument("tree", type=Path, help="a folder with source files")
    parser.add_argument("--suffix", default=".py", help="which files (default: .py)")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", choices=sorted(MEASUREMENTS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        print(json.dumps(MEASUREMENTS[options.only](options.tree, options.suffix)))
        return
    _compare(options.tree, options.suffix, options.rounds)


def bare_parse(tree: Path, suffix: str) -> dict[str, float]:
    """Parse every file once with tree-sitter and nothing else, in one process."""
    from aggregate.code.syntax import language_of
    from aggregate.code.syntax.parsing import parse_source

    language = language_of(f"x{suffix}")
    if language is None:
        raise SystemExit(f"no grammar for {suffix}")
    sources = [path.read_bytes() for path in _files(tree, suffix)]
    parse_source(b"", language)  # loads the grammar
    return _measured(lambda: [parse_source(source, language) for source in sources])


def skeletons(tree: Path, suffix: str) -> dict[str, float]:
    """Compose the skeletons of all files and count their tokens."""
    from aggregate import compose_prompt
    from aggregate.prompt import count_prompt, open_project, request_for

    project = open_project(
        _config(tree, [{"path": f"**/*{suffix}", "view_mode": "skeleton"}], tree / "unused")
    )
    sizes: dict[str, float] = {}

    def work() -> None:
        made = compose_prompt(request_for(project))
        tokens = count_prompt(made.prompt)
        sizes.update(
            files=len(made.records), tokens=tokens.document, characters=len(made.prompt.markdown)
        )

    return _measured(work) | sizes


def full(tree: Path, suffix: str) -> dict[str, float]:
    """Run the whole pipeline in full mode, without token counts, and write the prompt."""
    from aggregate import run

    with tempfile.TemporaryDirectory() as folder:
        config = _config(tree, [f"**/*{suffix}"], Path(folder))
        sizes: dict[str, float] = {}

        def work() -> None:
            _, path, records = run(config)
            sizes.update(files=len(records), bytes=path.stat().st_size)

        before = _peak_mb()
        return _measured(work) | sizes | {"peak_mb": _peak_mb(), "peak_before_mb": before}


def copy_loop(tree: Path, suffix: str) -> dict[str, float]:
    """Read every file and write them all to one file: the least that any packer does."""
    paths = _files(tree, suffix)
    with tempfile.TemporaryDirectory() as folder:

        def work() -> None:
            with (Path(folder) / "all").open("wb") as out:
                for path in paths:
                    out.write(path.read_bytes())

        return _measured(work)


MEASUREMENTS: dict[str, Callable[[Path, str], dict[str, float]]] = {
    "bare_parse": bare_parse,
    "skeletons": skeletons,
    "full": full,
    "copy_loop": copy_loop,
}


def _compare(tree: Path, suffix: str, rounds: int) -> None:
    names = ("bare_parse", "skeletons", "copy_loop", "full")
    results: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            results[name].append(_in_process(name, tree, suffix))
    bare, made = _median(results["bare_parse"]), _median(results["skeletons"])
    loop, whole = _median(results["copy_loop"]), _median(results["full"])
    size = whole["bytes"] / 1e6
    allowed = 120 + 3 * size
    growth = _growth(tree, suffix)
    start = _start_ratio(max(rounds, 5))
    rows = [
        ("skeletons and tokens: CPU / bare parse", made["cpu"] / bare["wall"], 1.8),
        ("skeletons and tokens: wall / bare parse", made["wall"] / bare["wall"], 1.1),
        ("full: wall / copy loop", whole["wall"] / loop["wall"], 3.0),
        ("full: peak memory / (120 MB + 3 x output)", whole["peak_mb"] / allowed, 1.0),
        ("cost per file, 10,000 files / 1,000 files", growth, 1.15),
        ("aggregate --help / python -c pass", start, 6.0),
    ]
    print(
        f"{int(made['files'])} files, {size:.1f} MB in full, {int(made['tokens']):,} tokens in skeletons"
    )
    print(
        f"bare parse {bare['wall']:.2f} s; skeletons {made['wall']:.2f} s wall, {made['cpu']:.2f} s CPU"
    )
    print(
        f"copy loop {loop['wall']:.3f} s; full {whole['wall']:.3f} s, peak {whole['peak_mb']:.0f} MB"
    )
    print()
    print(f"{'figure':<44} {'ratio':>6} {'goal':>6}")
    for title, ratio, goal in rows:
        print(f"{title:<44} {ratio:>6.2f} {goal:>6.2f}{'' if ratio <= goal else '  missed'}")


def _growth(tree: Path, suffix: str) -> float:
    """Return the cost per file with 10,000 files over that with 1,000, both copies of the same 1,000 files."""
    paths = _files(tree, suffix)[:1000]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for copy in range(10):
            for i, path in enumerate(paths):
                target = root / f"copy{copy}" / f"{i // 100}" / f"{i}{suffix}"
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
        few = [_in_process("full", root / "copy0", suffix) for _ in range(3)]
        many = [_in_process("full", root, suffix) for _ in range(3)]
        return (_median(many)["wall"] / _median(many)["files"]) / (
            _median(few)["wall"] / _median(few)["files"]
        )


def _start_ratio(rounds: int) -> float:
    def seconds(*arguments: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        return time.perf_counter() - start

    pairs = [(seconds("-m", "aggregate", "--help"), seconds("-c", "pass")) for _ in range(rounds)]
    return statistics.median(ours / bare for ours, bare in pairs)


def _in_process(name: str, tree: Path, suffix: str) -> dict[str, float]:
    command = [
        sys.executable,
        "-m",
        "simulation.pipeline",
        str(tree),
        "--suffix",
        suffix,
        "--only",
        name,
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def _measured(work: Callable[[], object]) -> dict[str, float]:
    """Return wall and CPU seconds of ``work``, child processes included."""
    start, cpu = time.perf_counter(), _cpu()
    work()
    return {"wall": time.perf_counter() - start, "cpu": _cpu() - cpu}


def _cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _median(results: list[dict[str, float]]) -> dict[str, float]:
    return {key: statistics.median(one[key] for one in results) for key in results[0]}


def _config(tree: Path, paths: list[object], output: Path) -> dict[str, object]:
    return {
        "project": {"name": "benchmark"},
        "output": {"output_dir": str(output)},
        "files": {"base_dir": str(tree), "paths": paths},
    }


def _files(tree: Path, suffix: str) -> list[Path]:
    return sorted(path for path in tree.rglob(f"*{suffix}") if path.is_file())


if __name__ == "__main__":
    main()
