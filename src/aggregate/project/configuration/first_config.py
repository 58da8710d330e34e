"""The first ``manual_slop.toml`` of a project, with comments."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

from aggregate.base.task_budget import Amount
from aggregate.base.text import LOCK_FILES
from aggregate.project.configuration.load import CONFIG_NAME

_SURROGATES = re.compile("[\ud800-\udfff]")
_EXAMPLE = 32_000  # tokens of the commented budget: "auto" without a model
_DOCUMENTS = ("README.md", "README.rst", "README.txt", "README")


def first_config(
    name: str,
    files: Sequence[str],
    code_suffixes: Sequence[str],
    leave_out: Sequence[str] = (),
    *,
    budget: Amount | None = None,
) -> str:
    """Return the text of a project's first configuration, with comments.

    ``files`` are relative paths. Code, recognized by ``code_suffixes``, is shown by its skeleton, with one glob per top
    folder and suffix, after the README in full. With a ``budget`` all files are candidates, each shown at most in full.
    ``leave_out`` and lock files are excluded.
    """
    locks = sorted(LOCK_FILES & {PurePosixPath(file).name for file in files})
    itself = [] if budget is None else [f"/{CONFIG_NAME}"]
    tokens = _quoted(budget) if isinstance(budget, str) else f"{budget or _EXAMPLE:_}"
    return _TEMPLATE.format(
        name=_quoted(name),
        paths="\n".join(_skeletons(files, code_suffixes) if budget is None else ['  "**/*",']),
        exclude=f"[{', '.join(map(_quoted, [*itself, *leave_out, *locks]))}]",
        budget=f"{'# ' if budget is None else ''}tokens = {tokens}",
    )


def _skeletons(files: Sequence[str], code_suffixes: Sequence[str]) -> list[str]:
    readme = next((file for file in _DOCUMENTS if file in files), None)
    paths = [f"  {_quoted(readme)},"] if readme else []
    sizes: Counter[tuple[str, str]] = Counter()
    for file in files:
        path = PurePosixPath(file)
        if path.suffix.lower() in code_suffixes and not path.parts[0].startswith("."):
            folder = path.parts[0] if len(path.parts) > 1 else ""
            sizes[folder, path.suffix] += 1
    for folder, suffix in sorted(sizes, key=lambda kind: (kind[0], -sizes[kind], kind[1])):
        escaped = "".join(f"[{char}]" if char in "*?[{" else char for char in folder)
        glob = f"{escaped}/**/*{suffix}" if folder else f"*{suffix}"
        paths.append(f'  {{ path = {_quoted(glob)}, view_mode = "skeleton" }},')
    return paths


def _quoted(text: str) -> str:
    """Return ``text`` as a TOML string, with ``?`` for invalid bytes."""
    return json.dumps(_SURROGATES.sub("?", text), ensure_ascii=False).replace("\x7f", "\\u007f")


_TEMPLATE = """\
# The prompt of this project for a language model. "aggregate run" writes it to a numbered Markdown file.
# For checks and completion in an editor: aggregate schema > manual_slop.schema.json

[project]
name = {name}
# auto: as summary_only says; summarize: a digest of every file; full: every file in its view_mode.
aggregation_strategy = "auto"
summary_only = false
# "beads" adds the tasks of a beads project.
execution_mode = "native"

[output]
# The prompts are <output_dir>/<namespace>_001.md, _002.md, ...
output_dir = "md_gen"

[files]
base_dir = "."
# Paths, globs, or tables. Globs respect .gitignore. view_mode: full, summary, skeleton (no function bodies), outline
# (one line per definition), masked (with ast_mask), custom (with custom_slices), none.
# The entry of a file's own path overrides globs.
paths = [
{paths}
]
# Globs skip these .gitignore patterns. Without git they also skip dependencies, outputs and caches, such as
# node_modules, venv and build.
exclude = {exclude}
# Generated files that globs match, such as lock files and minified scripts: "name" lists them with their sizes,
# "outline" shows one line per definition, "full" uses their view_mode.
generated = "name"

[budget]
# Maximum tokens of a prompt: a number, "32k", or "auto" for a good size for the model. The files most relevant to the
# task ("aggregate run --task ...", or [task] text) fill it. A view_mode limits a file; without one it may be full.
{budget}

[screenshots]
base_dir = "."
paths = []

[send]
# Defaults of "aggregate send" and "aggregate chat".
# provider = "anthropic"
# model = "claude-sonnet-5"

[discussion]
# Turns, oldest first: "text" or {{ role = "User", content = "text" }}. They may also live in manual_slop_history.toml.
history = []
"""
