"""The files that a request asks for, as they are on the disk now."""

from dataclasses import replace

from aggregate.base.errors import ConfigError
from aggregate.project.files import FolderListing
from aggregate.prompt.focus import named_paths
from aggregate.prompt.generated_files import with_generated_policy
from aggregate.prompt.redact_prompt import redact_names
from aggregate.prompt.request import Request
from aggregate.prompt.selection import (
    Selection,
    exclude_filter,
    own_output_filter,
    resolve_entries,
)


def select_files(request: Request, *, listing: FolderListing | None = None) -> Selection:
    """Return the files of a request, without secrets in their names where these are replaced.

    What the program wrote itself and excluded files are never taken by a glob.

    Args:
        request: Whose files.
        listing: What was listed before, with the request's scope, where nothing has changed since; by default all
            folders are listed now.

    Raises:
        ConfigError: The base directory is no folder, or there are too many rules of what to leave out.
    """
    base_dir = request.base_dir
    if request.entries and not base_dir.is_dir():
        raise ConfigError(
            f"files.base_dir: there is no folder {base_dir}: correct it, relative to the configuration",
            key="files.base_dir",
        )
    is_ours = own_output_filter(base_dir, request.output_dir, request.namespace, request.shown_from)
    is_excluded = exclude_filter(request.exclude) if request.exclude else lambda _: False
    selection = resolve_entries(
        base_dir,
        request.entries,
        is_left_out=lambda path: is_ours(path) or is_excluded(path),
        listing=listing or FolderListing(request.scope),
    )
    selection = redact_names(selection, request.redaction)
    return _with_pins(with_generated_policy(selection, request), request)


def _with_pins(selection: Selection, request: Request) -> Selection:
    """Return the selection; with a task and no budget the files that it points at are shown in full (rule T-2).

    A budget decides itself how its pins are shown, and Tier 3 has its own way.
    """
    if request.task is None or request.budget is not None or request.is_tier3:
        return selection
    named = ((file.path, file.item.path) for file in selection.files if not file.is_remark)
    pinned = named_paths(named, request.focus_paths)
    files = (file.in_full() if file.path in pinned else file for file in selection.files)
    return replace(selection, files=tuple(files))
