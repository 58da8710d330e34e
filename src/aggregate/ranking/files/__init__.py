"""What is known of each file before anything is asked: its words, definitions and pieces, packed to be kept."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.ranking.files.analyse import *
    from aggregate.ranking.files.analysis import *
    from aggregate.ranking.files.corpus import *
    from aggregate.ranking.files.term_groups import *
else:
    __getattr__ = door(
        __name__,
        {
            "analyse": "analyse",
            "analysis": "Analysis column numbers",
            "corpus": "Corpus DefinedName FileAnalysis FileFacts Piece TermInFile",
            "term_groups": "MOST_MEMBERS NameGroup TermGroup pack_names pack_terms",
        },
    )
