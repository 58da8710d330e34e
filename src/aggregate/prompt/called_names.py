"""Names of the functions and classes that visible code calls (rule B-7)."""

from collections.abc import Mapping
from typing import Final

from aggregate.prompt.file_corpus import FileCorpus

_MOST: Final = 100  # names to look up


def called_names(marks: Mapping[int, bytes], corpus: FileCorpus) -> list[str]:
    """Return the names called in the visible lines.

    Visible lines have the mark ``1``. Names are in the order of files and lines.
    """
    names: dict[str, None] = {}
    analyses = corpus.analyses([*marks], with_references=True)
    for visible, analysis in zip(marks.values(), analyses, strict=True):
        for reference in analysis.references:
            if reference.kind == "call" and any(visible[reference.line - 1 : reference.line]):
                names.setdefault(reference.name)
    return [*names][:_MOST]
