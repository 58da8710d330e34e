"""Read untrusted git repositories without starting programs they configure."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.project.git.git_files import *
    from aggregate.project.git.git_history import *
    from aggregate.project.git.git_remote import *
    from aggregate.project.git.guarded_git import *
else:
    __getattr__ = door(
        __name__,
        {
            "git_files": "generated_marks list_files unignored without_filters",
            "git_history": "FileChange Head LoggedCommit changed_lines commit_ids find_commit find_head read_changes read_commits read_contexts",
            "guarded_git": "IDENTITY OWN_LIMITS git own_git unquoted why_no_history",
            "git_remote": "Remote forget_remotes",
        },
    )
