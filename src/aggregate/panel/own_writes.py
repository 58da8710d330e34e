"""Which changes on the disk are only what this program has written itself."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from aggregate.base.disk import real_path
from aggregate.panel.composing import ComposedDraft
from aggregate.prompt import display_path, own_output_filter

_HALF_WRITTEN: Final = re.compile(r"(?:^|[/\\])\.[^/\\]+-[0-9a-f]{16}\.tmp$")
"""What a file is called while it is written, by this program."""


def whole_files(paths: Iterable[str]) -> list[str]:
    """Return the paths without those of files that this program has not written to their end."""
    return [path for path in paths if not _HALF_WRITTEN.search(path)]


def is_own(paths: Sequence[str], composed: ComposedDraft | None, base_dir: Path) -> bool:
    """Tell whether all of these are what we have written ourselves: prompts, records, states.

    Not whatever lies beside them: the folder of the prompts may be one of sources too.

    Args:
        paths: Absolute ones.
        composed: What was composed last, which says where prompts are written.
        base_dir: Where its files lie, links resolved.
    """
    if composed is None:
        return False
    request = composed.request
    output, folder = (Path(real_path(path)) for path in (request.output_dir, request.shown_from))
    is_ours = own_output_filter(base_dir, output, request.namespace, folder)
    # A folder comes with what was written into it.
    folders = (str(output), str(folder / "state"))
    return all(path in folders or is_ours(display_path(path, base_dir)) for path in paths)
