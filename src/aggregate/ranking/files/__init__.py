"""Per-file data, independent of questions: words, definitions and pieces, packed for the index."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.ranking.files.analyse import *
    from aggregate.ranking.files.analysis import *
    from aggregate.ranking.files.rough import *
else:
    __getattr__ = door(
        __name__,
        {
            "analyse": "analyse",
            "analysis": "Analysis Corpus DefinedName LONGEST_SIGNATURE Piece Reference",
            "rough": "FileFacts GroupTable MOST_MEMBERS RoughFile TermTable look_roughly pack_tables pack_terms",
        },
    )
