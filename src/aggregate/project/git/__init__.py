"""."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.project.git.git import touched_files, tracked_but_ignored
    from aggregate.project.git.git_changes import changed_lines
    from aggregate.project.git.git_contexts import HunkContext, context_rules, read_contexts
    from aggregate.project.git.git_log import (
        Head,
        LoggedCommit,
        commit_ids,
        find_head,
        read_commits,
    )
    from aggregate.project.git.git_process import why_no_history
    from aggregate.project.git.gitattributes import AttributesReader
    from aggregate.project.git.gitignore import append_folders, unignored
else:
    __getattr__ = door(
        __name__,
        {
            "git": "touched_files tracked_but_ignored",
            "git_changes": "changed_lines",
            "git_contexts": "HunkContext context_rules read_contexts",
            "git_log": "Head LoggedCommit commit_ids find_head read_commits",
            "git_process": "why_no_history",
            "gitattributes": "AttributesReader",
            "gitignore": "append_folders unignored",
        },
    )
