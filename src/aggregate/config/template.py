"""The first ``manual_slop.toml`` of a project, with a remark on every choice."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

from aggregate.text.generated import LOCK_FILES

_NO_TEXT = re.compile("[\ud800-\udfff]")
_DOCUMENTS = ("README.md", "README.rst", "README.txt", "README")


def first_config(
    name: str, files: Sequence[str], code_suffixes: Sequence[str], leave_out: Sequence[str] = ()
) -> str:
    """Return a commented configuration for a project called ``name`` that holds ``files`` (relative paths).

    Every file with one of ``code_suffixes`` is taken by a glob per top folder and suffix, shown by its skeleton; the
    README comes first, in full. The patterns ``leave_out`` are excluded, and lock files.
    """
    readme = next((file for file in _DOCUMENTS if file in files), None)
    globs = _globs(files, frozenset(code_suffixes))
    paths = [f"  {_quoted(readme)},"] if readme else []
    paths += [f'  {{ path = {_quoted(glob)}, view_mode = "skeleton" }},' for glob in globs]
    locks = sorted(LOCK_FILES & {PurePosixPath(file).name for file in files})
    return _TEMPLATE.format(
        name=_quoted(name), paths="\n".join(paths), exclude=_array([*leave_out, *locks])
    )


def _globs(files: Sequence[str], suffixes: frozenset[str]) -> list[str]:
    """Return a glob per top folder and kind of code, the largest first within a folder."""
    sizes: Counter[tuple[str, str]] = Counter()
    for file in files:
        path = PurePosixPath(file)
        if path.suffix.lower() in suffixes and not path.parts[0].startswith("."):
            folder = path.parts[0] if len(path.parts) > 1 else ""
            sizes[folder, path.suffix] += 1
    ordered = sorted(sizes, key=lambda kind: (kind[0], -sizes[kind], kind[1]))
    return [
        f"{_escaped(folder)}/**/*{suffix}" if folder else f"*{suffix}" for folder, suffix in ordered
    ]


def _array(patterns: Sequence[str]) -> str:
    return "[" + ", ".join(map(_quoted, patterns)) + "]"


def _quoted(text: str) -> str:
    """Return ``text`` as a TOML string; ``?``, any one character to a glob, stands for bytes that are no UTF-8."""
    return json.dumps(_NO_TEXT.sub("?", text), ensure_ascii=False).replace("\x7f", "\\u007f")


def _escaped(folder: str) -> str:
    return "".join(f"[{char}]" if char in "*?[{" else char for char in folder)


_TEMPLATE = """\
# What a language model sees of this project. "aggregate run" writes it to a numbered markdown file.
# For checks and completion in an editor: aggregate schema > manual_slop.schema.json

[project]
name = {name}
# auto: by summary_only; summarize: a digest of every file; full: every file by its view_mode.
aggregation_strategy = "auto"
summary_only = false
# "beads" adds the progress track of a beads project.
execution_mode = "native"

[output]
# The prompts are <output_dir>/<namespace>_001.md, _002.md, ...
output_dir = "md_gen"

[files]
base_dir = "."
# Paths, globs, or tables. Globs honour .gitignore. view_mode: full, summary, skeleton (no function bodies), outline
# (one line per definition), masked (with ast_mask), custom (with custom_slices), none.
# Files that are named without a wildcard are shown as their own entry says, whatever a glob says.
paths = [
{paths}
]
# Patterns as in .gitignore that globs leave out. Outside of git they also leave out the usual folders of dependencies,
# outputs and caches, such as node_modules, venv and build.
exclude = {exclude}
# Generated files that a glob stands for (lock files, minified scripts, what says so in its first comment): "name" lists
# them with their sizes, "outline" shows one line per definition, "full" shows them as their entry asks.
generated = "name"

[screenshots]
base_dir = "."
paths = []

[discussion]
# Turns, oldest first: "text" or {{ role = "User", content = "text" }}. They may also live in manual_slop_history.toml.
history = []
"""
