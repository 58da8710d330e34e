"""Which definitions of which files a task is about: independent evidences, and their fusion into one order.

Pure: whoever calls reads files, commits and the index, and passes what they hold.
"""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.ranking.analyse import analyse
    from aggregate.ranking.analysis import Analysis
    from aggregate.ranking.change_words import change_words, first_line
    from aggregate.ranking.columns import column, numbers
    from aggregate.ranking.corpus import Corpus, FileFacts, TermInFile
    from aggregate.ranking.definition_lines import definition_name
    from aggregate.ranking.file_analysis import DefinedName, FileAnalysis, Piece
    from aggregate.ranking.message_text import own_words
    from aggregate.ranking.question import ChangedLines, Commit, Question
    from aggregate.ranking.rank import rank
    from aggregate.ranking.ranking import RankedFile, Ranking
    from aggregate.ranking.similar_commits import MOST_READ, similar_commits
    from aggregate.ranking.task_text import read_task
    from aggregate.ranking.term_groups import (
        MOST_MEMBERS,
        NameGroup,
        TermGroup,
        pack_names,
        pack_terms,
    )
    from aggregate.ranking.terms import term_hash, term_list, terms_in
    from aggregate.ranking.weights import WEIGHTS
else:
    __getattr__ = door(
        __name__,
        {
            "analyse": "analyse",
            "analysis": "Analysis",
            "change_words": "change_words first_line",
            "columns": "column numbers",
            "corpus": "Corpus FileFacts TermInFile",
            "definition_lines": "definition_name",
            "file_analysis": "DefinedName FileAnalysis Piece",
            "message_text": "own_words",
            "question": "ChangedLines Commit Question",
            "rank": "rank",
            "ranking": "RankedFile Ranking",
            "similar_commits": "MOST_READ similar_commits",
            "task_text": "read_task",
            "term_groups": "MOST_MEMBERS NameGroup TermGroup pack_names pack_terms",
            "terms": "term_hash term_list terms_in",
            "weights": "WEIGHTS",
        },
    )
