"""Per-file data, independent of questions: words, definitions and pieces, packed for the index."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.ranking.files.analyse import *
    from aggregate.ranking.files.analysis import *
    from aggregate.ranking.files.packing import *
    from aggregate.ranking.files.rough import *
else:
    __getattr__ = door(
        __name__,
        {
            "analyse": "analyse",
            "analysis": "Analysis Corpus DefinedName FileFacts LONGEST_SIGNATURE Piece Reference",
            "packing": "MOST_MEMBERS pack_terms TermTable",
            "rough": "GroupTable RoughFile look_roughly pack_tables",
        },
    )
