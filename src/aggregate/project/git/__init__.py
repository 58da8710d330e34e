"""Git: what it tracks, has changed and remembers, asked so that a stranger's repository starts no program."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.project.git.git import *
    from aggregate.project.git.git_changes import *
    from aggregate.project.git.git_log import *
    from aggregate.project.git.git_patch import *
    from aggregate.project.git.git_process import *
    from aggregate.project.git.gitattributes import *
else:
    __getattr__ = door(
        __name__,
        {
            "git": "append_folders touched_files tracked_but_ignored unignored",
            "git_changes": "changed_lines",
            "git_log": "Head LoggedCommit commit_ids find_head read_commits",
            "git_patch": "HunkContext context_rules read_contexts",
            "git_process": "why_no_history",
            "gitattributes": "AttributesReader",
        },
    )
