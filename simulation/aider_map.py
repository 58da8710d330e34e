"""Run by the interpreter of an environment that aider is installed in: prints aider's map for each line of JSON.

Arguments: the file of the o200k vocabulary. Each line of standard input is a question with ``tree``, ``text``,
``budget`` and ``files``; each answer is the map's text as JSON. What counts as mentioned is found in the task as
aider's own chat does it: each word as an identifier, paths, and files' names without suffix.
"""

import importlib
import json
import re
import struct
import sys
from pathlib import Path
from typing import Any

_QUOTES = "\"'`*_"
_SHORTEST = 5
"""Characters of a word that names a file without its suffix."""


class Model:
    """Counts tokens, which is all that the map asks a model for."""

    def __init__(self, vocabulary: str) -> None:
        tiktoken = importlib.import_module("tiktoken")
        data = Path(vocabulary).read_bytes()
        count = int.from_bytes(data[:4], "little") // 8
        starts = struct.unpack_from(f"<{count + 1}I", data)
        of_ranks = struct.unpack_from(f"<{count}I", data, 4 * len(starts))
        ranks = {data[starts[i] : starts[i + 1]]: of_ranks[i] for i in range(count)}
        rule = r"""[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"""
        self._encoding = tiktoken.Encoding(
            "o200k", pat_str=rule, mergeable_ranks=ranks, special_tokens={}
        )

    def token_count(self, text: str) -> int:
        """Return the number of tokens; the rule is simpler than the published one, and counts some percent more."""
        return len(self._encoding.encode_ordinary(text))


class Terminal:
    """Prints nothing, and reads files."""

    def read_text(self, path: str) -> str | None:
        """Return a file's text."""
        try:
            return Path(path).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever else it is asked to print
        return lambda *arguments, **named: None


def mentioned_files(text: str, files: list[str]) -> set[str]:
    """Return the files that a text mentions by their path, their name or their stem."""
    words = {word.rstrip(",.!;:?").strip(_QUOTES) for word in text.split()}
    plain = {word.lower() for word in re.split(r"\W+", text) if len(word) >= _SHORTEST}
    by_name: dict[str, list[str]] = {}
    for path in files:
        by_name.setdefault(Path(path).name, []).append(path)
    mentioned = {path for path in files if path in words}
    for name, paths in by_name.items():
        if len(paths) == 1 and name in words and re.search(r"[._-]", name):
            mentioned.add(paths[0])
    return mentioned | {path for path in files if Path(path).stem.lower() in plain}


def answer_all() -> None:
    """Answer questions until there are no more."""
    repomap = importlib.import_module("aider.repomap")
    model, terminal = Model(sys.argv[1]), Terminal()
    for line in sys.stdin:
        question = json.loads(line)
        tree, text, files = Path(question["tree"]), question["text"], question["files"]
        # Beside the tree, which is cleaned between questions: its cache knows files by their time.
        repomap.RepoMap.TAGS_CACHE_DIR = str(tree.parent / f"{tree.name}.aider-tags")
        aider_map = repomap.RepoMap(
            map_tokens=question["budget"], root=str(tree), main_model=model, io=terminal
        )
        shown = aider_map.get_repo_map(
            set(),
            {str(tree / path) for path in files},
            mentioned_fnames=mentioned_files(text, files),
            mentioned_idents=set(re.split(r"\W+", text)),
        )
        print(json.dumps(shown or ""), flush=True)


if __name__ == "__main__":
    answer_all()
