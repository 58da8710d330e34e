"""How much each evidence counts: fitted on commits of 35 projects in eleven languages by a softmax likelihood.

The commit's message was the task, its parent the project, and its sources that are no tests the answer
(``simulation.fit_weights``; 11 to 24 commits of each, in November 2026). Each weight is what the best value of an
evidence adds to the logarithm of a piece's odds.

Those marked *set* do not come from that fit: commit messages hardly hold such evidence, and tests and documents were
never the answer. Behind the fit ``similar changes`` was raised by hand as well.
"""

from collections.abc import Mapping
from types import MappingProxyType

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        # Text: what the task's words match.
        "definition text": 2.5,  # its text, its name three times, the names around it and its path
        "file text": 1.3,  # says where a word is at home that no definition is about
        "subject": 1.9,  # single pieces against the first line, which is free of side remarks
        "names around": 1.0,  # names are chosen to say what a definition is about
        "path words": 0.5,  # so are folders and files
        "scope in the path": 1.4,  # ``router: ...`` in projects that write so
        # Mentions: what the task names outright.
        "named in the task": 1.7,  # a definition, surely or not
        "joined words": 0.8,  # pieces that use what the task writes as several words
        "identifier used": 1.0,  # pieces that use what the task names
        "file named in the first line": 3.0,
        "path named in the task": 1.3,
        "file named in the task": 0.5,  # set: bodies of messages mention files that were not changed
        "place in the task": 8.0,  # set: a traceback's innermost frame stands above all words around it
        "called before": 7.0,  # set: by a traceback's frames; behind the innermost, before outer ones
        # History.
        "similar changes": 2.3,  # set: fitted 1.5, raised when weak likeness began to count less; files
        "definitions of similar changes": 0.6,
        "messages of changes": 1.6,  # of all changes of a file together
        "last change": 1.6,  # files: what was just changed is changed again
        "recently changed definitions": 0.6,
        "changed together": 0.4,  # set: small beside similar changes, which mostly say the same
        # What files are for.
        "test": -7.3,  # set: from an earlier fit; a task is about the source unless it speaks of tests
        "test code": -0.5,  # set: tests within the source change with it, but are not where to begin
        "auxiliary": -6.0,
        "kind in the task": 1.0,  # set: ``docs: ...`` and ``flaky test of ...`` ask for them
        "no program": -3.3,
        "language": 0.9,  # the project's main language rather than its scripts
        # Size and shape.
        "file size": -5.3,  # a large file has many pieces, each of which adds to its chance
        "piece size": 2.7,  # more lines, more that may have to change
        "outside definitions": 1.5,  # imports and constants change with what uses them
        "function": 0.7,  # bodies change more than declarations
        # Seeds: what the user points at comes first, whatever the words say.
        "focus": 9.0,  # set
        "symbol": 12.0,  # set: above the best that all others together give a piece
        "changed since": 9.0,  # set
        "near a seed": 3.0,  # set: what seeds call, and what calls and tests them, is next
        # Structure.
        "references": 0.7,  # says which signatures a body needs more than what changes with it
    }
)
