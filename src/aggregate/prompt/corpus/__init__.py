"""The files that a ranking compares, and their order by a task."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.prompt.corpus.commit_history import *
    from aggregate.prompt.corpus.known_files import *
    from aggregate.prompt.corpus.ranked_files import *
else:
    __getattr__ = door(
        __name__,
        {
            "commit_history": "begin_history",
            "known_files": "analysed",
            "ranked_files": "find_pins OpenFiles Pins question_for rank_files read_files ReadFiles resolve_place",
        },
    )
