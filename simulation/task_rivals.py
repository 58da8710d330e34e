"""Other programs that choose what a model sees of a project for a task, where they are installed.

Each one is asked for the most that it offers for a task, for the whole budget, and its own format is read back.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from simulation.prompt_makers import Ask, NoAnswerError, PromptMaker, encoding, tracked_files
from simulation.recall_metrics import Blocks, read_blocks

TIMEOUT = 120
"""Seconds that a program may take for one prompt."""

_AIDER_LINE = re.compile(r"(?P<path>[^│⋮].*):")
_HEADED_FILE = re.compile(r"#{2,4} (?:File: )?`?(?P<path>[^`\s]+\.[\w]+)`?.*")


@dataclass(slots=True)
class AiderMap:
    """Aider's map of a repository, with the words of the task as what is mentioned, as aider itself does it."""

    python: Path
    name: str = "aider's map"
    _process: "subprocess.Popen[str] | None" = field(default=None, init=False)

    def make(self, tree: Path, ask: Ask, budget: int) -> str:
        """Ask the process that holds aider's map."""
        if self._process is None:
            script = Path(__file__).with_name("aider_map.py")
            vocabulary = files("aggregate.base.tokens").joinpath("o200k_base.ranks")
            self._process = subprocess.Popen(
                [str(self.python), str(script), str(vocabulary)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        ours, theirs = self._process.stdin, self._process.stdout
        if ours is None or theirs is None:
            raise AssertionError("the pipes were asked for")
        question = {
            "tree": str(tree),
            "text": ask.text,
            "budget": budget,
            "files": tracked_files(tree),
        }
        print(json.dumps(question), file=ours, flush=True)
        answer = theirs.readline()
        if not answer:
            self._process = None
            raise NoAnswerError("aider's map ended")
        return str(json.loads(answer))

    def read(self, prompt: str) -> Blocks:
        """Read the lines behind ``│`` below each path."""
        blocks: dict[str, list[str]] = {}
        path = ""
        for line in prompt.split("\n"):
            if line.startswith("│"):
                blocks.setdefault(path, []).append(line[1:])
            elif match := _AIDER_LINE.fullmatch(line):
                path = match["path"]
            elif line.startswith("⋮") and path in blocks:
                blocks[path].append("⋮")
        return blocks


@dataclass(slots=True)
class Command:
    """Another program that is called once for each prompt."""

    name: str
    command: Sequence[str]
    reader: Callable[[str], Blocks]
    environment: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False

    def make(self, tree: Path, ask: Ask, budget: int) -> str:
        """Run the program."""
        output = tree.parent / f"{tree.name}.{self.name.split()[0]}.out"
        output.unlink(missing_ok=True)
        places = {
            "tree": str(tree),
            "text": " ".join(ask.text.split()),
            "budget": str(budget),
            "output": str(output),
        }
        try:
            done = subprocess.run(
                [word.format_map(places) for word in self.command],
                check=False,
                cwd=tree,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=TIMEOUT,
            )
        except subprocess.TimeoutExpired as error:
            raise NoAnswerError(f"{self.name}: more than {TIMEOUT} s") from error
        text = done.stdout.decode("utf-8", "replace")
        if output.exists():
            text = output.read_text(encoding="utf-8", errors="replace")
        if done.returncode or not text:
            raise NoAnswerError(f"{self.name}: {done.stderr.decode('utf-8', 'replace')[-300:]}")
        if self.cut:
            text = encoding().decode(encoding().encode_ordinary(text)[:budget])
        return text

    def read(self, prompt: str) -> Blocks:
        """Read its format."""
        return self.reader(prompt)


def read_headed(prompt: str) -> Blocks:
    """Read markdown that has a heading with a path before each fenced block."""
    return read_blocks(prompt, _HEADED_FILE)


def read_fragments(prompt: str) -> Blocks:
    """Read diffctx's JSON: fragments with a path and a content."""
    blocks: dict[str, list[str]] = {}
    with suppress(ValueError):
        for fragment in json.loads(prompt).get("fragments", []):
            lines = str(fragment.get("content", "")).split("\n")
            blocks.setdefault(str(fragment["path"]), []).extend(lines)
    return blocks


def other_programs(aider: Path | None) -> list[PromptMaker]:
    """Return the other programs that are installed."""
    makers: list[PromptMaker] = [AiderMap(aider)] if aider else []
    if program := shutil.which("repomix"):
        makers.append(Command("repomix --compress, cut", _repomix(program), read_headed, cut=True))
    return makers


def _repomix(program: str) -> list[str]:
    return [
        program, "--quiet", "--style", "markdown", "--compress", "--no-file-summary", "--no-directory-structure",
        "-o", "{output}", "{tree}",
    ]  # fmt: skip


def diff_programs() -> list[PromptMaker]:
    """Return the other programs that begin at a diff."""
    program = shutil.which("diffctx")
    if not program:
        return []
    command = [program, "-q", "-f", "json", "--diff", "HEAD", "--budget", "{budget}", "{tree}"]
    return [Command("diffctx --diff", command, read_fragments)]
