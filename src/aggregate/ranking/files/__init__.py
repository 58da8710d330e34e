"""What is known of each file before anything is asked: its words, definitions and pieces, packed to be kept."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.ranking.files.analyse import *
    from aggregate.ranking.files.analysis import *
else:
    __getattr__ = door(
        __name__,
        {
            "analysis": "Analysis Corpus DefinedName FileAnalysis FileFacts MOST_MEMBERS NameGroup Piece TermGroup TermInFile column numbers pack_names pack_terms",
            "analyse": "analyse",
        },
    )
