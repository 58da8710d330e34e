"""Read untrusted git repositories without starting programs they configure."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.project.git.git_changes import *
    from aggregate.project.git.git_files import *
    from aggregate.project.git.git_log import *
    from aggregate.project.git.git_remote import *
    from aggregate.project.git.guarded_git import *
else:
    __getattr__ = door(
        __name__,
        {
            "git_files": "generated_marks list_files unignored without_filters",
            "git_changes": "FileChange changed_lines find_commit read_changes read_contexts",
            "git_log": "Head LoggedCommit commit_ids find_head read_commits",
            "guarded_git": "IDENTITY OWN_LIMITS git own_git unquoted why_no_history",
            "git_remote": "Remote forget_remotes",
        },
    )
