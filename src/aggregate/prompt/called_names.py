"""Names that the shown lines of some files call (rule B-7)."""

from collections.abc import Mapping
from typing import Final

from aggregate.prompt.file_corpus import FileCorpus

_MOST: Final = 100  # Names whose definitions are looked for


def called_names(marks: Mapping[int, bytes], corpus: FileCorpus) -> list[str]:
    """Return the names that lines with a mark ``1`` call, in the order of the files and lines."""
    names: dict[str, None] = {}
    analyses = corpus.analyses([*marks], with_references=True)
    for shown, analysis in zip(marks.values(), analyses, strict=True):
        for reference in analysis.references:
            if reference.kind == "call" and any(shown[reference.line - 1 : reference.line]):
                names.setdefault(reference.name)
    return [*names][:_MOST]
