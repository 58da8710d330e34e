"""Rank files and definitions by their relevance to a task.

Independent kinds of evidence are weighted and summed. Pure: the caller reads files, commits and the index.
"""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.ranking.companion_files import companions
    from aggregate.ranking.covered_names import named_files
    from aggregate.ranking.evidence import *
    from aggregate.ranking.history_evidence import changed_together
    from aggregate.ranking.inquiry import *
    from aggregate.ranking.mentions import no_definitions, sole_definitions
    from aggregate.ranking.message_text import *
    from aggregate.ranking.named_identifiers import *
    from aggregate.ranking.paths import *
    from aggregate.ranking.rank import *
    from aggregate.ranking.task_text import *
    from aggregate.ranking.terms import *
else:
    __getattr__ = door(
        __name__,
        {
            "covered_names": "named_files",
            "evidence": "Evidence RankedFile Ranking WEIGHTS",
            "history_evidence": "changed_together",
            "inquiry": "ChangedLines Commit Question similar_commits TaskText",
            "companion_files": "companions",
            "mentions": "no_definitions sole_definitions",
            "message_text": "change_words definition_name message_words",
            "named_identifiers": "named_identifiers",
            "paths": "kinds_of PathKind PathTable",
            "rank": "rank",
            "task_text": "read_task",
            "terms": "term_list terms_in",
        },
    )
