"""The files that a ranking compares, and their order by a task."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.prompt.corpus.commit_history import *
    from aggregate.prompt.corpus.file_corpus import *
    from aggregate.prompt.corpus.ranked_files import *
else:
    __getattr__ = door(
        __name__,
        {
            "commit_history": "CommitHistory",
            "file_corpus": "analysed analysis_call FileCorpus look_up_name number_of read_files shown_line",
            "ranked_files": "is_unsure make_sheet question_for rank_files RankedFiles read_answer resolve_place scored_choices Sheet SHEET_TOKENS with_answer",
        },
    )
