"""Per-file data, independent of questions: words, definitions and pieces, packed for the index."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.ranking.files.analyse import *
    from aggregate.ranking.files.analysis import *
    from aggregate.ranking.files.group_table import *
    from aggregate.ranking.files.rough import *
    from aggregate.ranking.files.term_tables import *
else:
    __getattr__ = door(
        __name__,
        {
            "analyse": "analyse",
            "analysis": "Analysis Corpus DefinedName FileFacts Piece Reference",
            "group_table": "GroupTable pack_tables",
            "rough": "RoughFile look_roughly",
            "term_tables": "MOST_MEMBERS pack_terms TermTable",
        },
    )
