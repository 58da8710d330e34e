"""The first ``manual_slop.toml`` of a project, with a remark on every choice."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

from aggregate.base.request import Amount
from aggregate.base.text import LOCK_FILES
from aggregate.project.configuration import CONFIG_NAME

_NO_TEXT = re.compile("[\ud800-\udfff]")


# Tokens of the budget that the template shows where none is wanted: what "auto" takes without a model.
_EXAMPLE = 32_000


_DOCUMENTS = ("README.md", "README.rst", "README.txt", "README")


def first_config(
    name: str,
    files: Sequence[str],
    code_suffixes: Sequence[str],
    leave_out: Sequence[str] = (),
    *,
    budget: Amount | None = None,
) -> str:
    """Return a commented configuration for a project called ``name`` that holds ``files`` (relative paths).

    Every file with one of ``code_suffixes`` is taken by a glob per top folder and suffix, shown by its skeleton; the
    README comes first, in full. With a ``budget`` all files are candidates, in full at the most. The patterns
    ``leave_out`` are excluded, and lock files.
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
        plain = "".join(f"[{char}]" if char in "*?[{" else char for char in folder)
        glob = f"{plain}/**/*{suffix}" if folder else f"*{suffix}"
        paths.append(f'  {{ path = {_quoted(glob)}, view_mode = "skeleton" }},')
    return paths


def _quoted(text: str) -> str:
    """Return ``text`` as a TOML string; ``?``, any one character to a glob, stands for bytes that are no UTF-8."""
    return json.dumps(_NO_TEXT.sub("?", text), ensure_ascii=False).replace("\x7f", "\\u007f")


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

[budget]
# The most tokens of a prompt: a number, "32k", or "auto" for what the model reads well. What matters most for the task
# ("aggregate run --task ...", or [task] text) is shown as far as it fits, each file at the most as its view_mode says:
# entries that may be shown in full have none.
{budget}

[screenshots]
base_dir = "."
paths = []

[send]
# Whom "aggregate send" and "aggregate chat" ask where no option says so.
# provider = "anthropic"
# model = "claude-sonnet-5"

[discussion]
# Turns, oldest first: "text" or {{ role = "User", content = "text" }}. They may also live in manual_slop_history.toml.
history = []
"""
