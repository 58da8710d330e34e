"""The files that a ranking compares, and their order by a task."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.prompt.corpus.commit_history import *
    from aggregate.prompt.corpus.file_corpus import *
    from aggregate.prompt.corpus.file_groups import *
    from aggregate.prompt.corpus.ranked_files import *
    from aggregate.prompt.corpus.sheet import *
else:
    __getattr__ = door(
        __name__,
        {
            "commit_history": "CommitHistory",
            "file_corpus": "FileCorpus read_files",
            "file_groups": "analysed analysis_call",
            "ranked_files": "check_focus question_for rank_files RankedFiles resolve_place",
            "sheet": "is_unsure make_sheet read_answer Sheet SHEET_TOKENS with_answer",
        },
    )
