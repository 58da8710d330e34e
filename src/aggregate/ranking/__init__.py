"""Which definitions of which files a task is about: independent evidences, and their fusion into one order.

Pure: whoever calls reads files, commits and the index, and passes what they hold.
"""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.ranking.analyse import *
    from aggregate.ranking.analysis import *
    from aggregate.ranking.corpus import *
    from aggregate.ranking.fusion import *
    from aggregate.ranking.message_text import *
    from aggregate.ranking.question import *
    from aggregate.ranking.rank import *
    from aggregate.ranking.task_text import *
    from aggregate.ranking.term_groups import *
    from aggregate.ranking.terms import *
    from aggregate.ranking.weights import *
else:
    __getattr__ = door(
        __name__,
        {
            "analyse": "analyse",
            "analysis": "Analysis column numbers",
            "corpus": "Corpus DefinedName FileAnalysis FileFacts Piece TermInFile",
            "fusion": "RankedFile Ranking",
            "message_text": "change_words definition_name message_words",
            "question": "ChangedLines Commit Question similar_commits",
            "rank": "rank",
            "task_text": "read_task",
            "term_groups": "MOST_MEMBERS NameGroup TermGroup pack_names pack_terms",
            "terms": "term_hash term_list terms_in",
            "weights": "WEIGHTS",
        },
    )
