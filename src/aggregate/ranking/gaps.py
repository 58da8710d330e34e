"""Which evidence there was none of, and why, for the audit (rule T-5)."""

from collections.abc import Iterator, Sequence

from aggregate.base.values import Missing
from aggregate.ranking.evidence import Evidence
from aggregate.ranking.inquiry import Candidates, Inquiry

_FEW_CHARACTERS = 2_000
"""Characters of a language's files below which it is no surprise that they define nothing."""
_MANY = 0.2
"""Part of the candidates' text in no known language from which it is told: every project has a licence and the like."""


def missing_evidence(
    inquiry: Inquiry, evidences: Sequence[Evidence], candidates: Candidates
) -> Sequence[Missing]:
    """Return what was told with the question, then what the evidences lack, each once."""
    gaps = [
        *inquiry.question.missing,
        *(evidence.missing for evidence in evidences if evidence.missing),
        *_text(inquiry),
        *_definitions(inquiry, candidates),
    ]
    return tuple(dict.fromkeys(gaps))


def _text(inquiry: Inquiry) -> Iterator[Missing]:
    """Yield why words matched nothing."""
    if not inquiry.files:
        yield Missing("files", "there is no file to rank")
    elif any(gap.evidence == "text" for gap in inquiry.question.missing):
        return  # whoever asks has said so already
    elif not inquiry.question.task.text.strip():
        yield Missing("text", "there is no text of a task")
    elif not inquiry.terms:
        yield Missing("text", "the task has no words to compare with the files")
    elif not any(term.files for term in inquiry.terms):
        yield Missing("text", "none of the task's words occurs in a file")


def _definitions(inquiry: Inquiry, candidates: Candidates) -> Iterator[Missing]:
    """Yield the languages whose files have no definitions, as those without a grammar."""
    characters: dict[str, int] = {}
    defining: set[str] = set()
    unknown: list[int] = []
    for file, analysis in candidates.items():
        facts = inquiry.files[file]
        if not facts.language:
            unknown.append(file)
        elif analysis.definitions:
            defining.add(facts.language)
        elif facts.is_code:
            characters[facts.language] = characters.get(facts.language, 0) + facts.characters
    for language in sorted(characters):
        if language not in defining and characters[language] >= _FEW_CHARACTERS:
            yield Missing("definitions", f"no definitions were found in {language}")
    size = sum(inquiry.files[file].characters for file in candidates)
    unknown_size = sum(inquiry.files[file].characters for file in unknown)
    if unknown and unknown_size >= _MANY * size:
        path = inquiry.files[unknown[0]].path
        others = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        yield Missing("definitions", f"no grammar for {path}{others}")
