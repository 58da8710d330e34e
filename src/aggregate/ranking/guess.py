"""When a task tells of no place, so that a choice of files is a guess; and identifiers that it misspells (rule T-9)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from aggregate.base.request import Guess, Missing
from aggregate.ranking.evidence import Evidence, RankedFile, best_keys
from aggregate.ranking.inquiry import Candidates, Inquiry, Question
from aggregate.ranking.kind_evidence import chore_of, kind_of_chore
from aggregate.ranking.mentions import WrittenName, traced_files
from aggregate.ranking.named_identifiers import CERTAIN
from aggregate.ranking.paths import PathKind
from aggregate.ranking.terms import terms_in
from aggregate.ranking.text_evidence import file_text

# Evidence of which any tells of a place where it is that sure.
_POINTING: Final = frozenset({
    "all of the task", "changed since", "file named in the first line", "focus", "named in the task", "symbol",
    "used as written",
})  # fmt: skip
_POINTED: Final = 0.5
_NAMING: Final = ("words of the file's name", "words of the name")
_LIKELIEST: Final = 10
_SURE: Final = 0.5  # of all probability, which so many have where words tell of a place: of such questions nearly all
_MOST_PROPOSED: Final = 5
_NAMELESS: Final = "no word of the task names a place"


def guess_of(
    inquiry: Inquiry,
    evidences: Sequence[Evidence],
    *,
    candidates: Candidates,
    files: Sequence[RankedFile],
) -> Guess | None:
    """Return why an order of files is a guess, with the likeliest names; ``None`` where the task tells of a place."""
    if traced_files(inquiry):
        return None
    for evidence in evidences:
        said = (evidence.files, evidence.pieces) if evidence.kind in _POINTING else ()
        if any(value >= _POINTED for values in said for value in values.values()):
            return None
    chore = chore_of(inquiry.question.task)
    named = any(
        inquiry.kinds[file] is PathKind.SOURCE
        for each in evidences
        if each.kind in _NAMING
        for file in (*each.files, *(file for file, _ in each.pieces))
    )
    if not chore and named and sum(each.score for each in files[:_LIKELIEST]) >= _SURE:
        return None
    reason = f"a task about {chore} names no place" if chore else _NAMELESS
    wanted = kind_of_chore(chore)
    of_kind = [each for each in files if inquiry.kinds[each.file] is wanted and each.score]
    likely = [*of_kind, *files] if wanted else files
    proposals = dict.fromkeys(_proposals(inquiry, candidates, likely))
    return Guess(reason, tuple(proposals)[:_MOST_PROPOSED])


def _proposals(
    inquiry: Inquiry, candidates: Candidates, files: Sequence[RankedFile]
) -> Iterator[str]:
    for ranked in files[: 4 * _MOST_PROPOSED]:
        path, kind = inquiry.files[ranked.file].path, inquiry.kinds[ranked.file]
        named = ""
        if kind is PathKind.SOURCE and ranked.file in candidates and ranked.pieces:
            analysis = candidates[ranked.file]
            best = max(range(len(ranked.pieces)), key=ranked.pieces.__getitem__)
            definition = analysis.pieces[best].definition
            named = ".".join(analysis.definitions[definition].path) if definition >= 0 else ""
        if kind is not PathKind.TEST:
            yield f"{named} in {path}" if named else path


_SHORTEST: Final = 5  # letters of an identifier whose neighbours are looked for
_NEAR: Final = 0.79  # how alike, 1 for the same: one slip in five letters, two in ten
_MOST_MISSPELT: Final = 3
# Files in which neighbours are looked for, those that the task's words are in: 300 take a second and a half more.
_MOST_NEAR: Final = 60


def spelt(inquiry: Inquiry) -> Question:
    """Return the question with identifiers that occur nowhere taken for the nearest definitions."""
    question, task = inquiry.question, inquiry.question.task
    unknown = [
        name for name, sure in task.names.items() if sure >= CERTAIN and _is_unknown(inquiry, name)
    ]
    if not unknown:
        return question
    from rapidfuzz import process  # 10 ms, and few tasks misspell a name
    from rapidfuzz.distance import DamerauLevenshtein

    known = _defined_near(inquiry)
    meant: dict[str, str] = {}
    for name in unknown[:_MOST_MISSPELT]:
        found = process.extractOne(
            WrittenName.parse(name).name,
            known,
            scorer=DamerauLevenshtein.normalized_similarity,
            score_cutoff=_NEAR,
        )
        if found:
            meant[name] = found[0]
    if not meant:
        return question
    terms = dict(terms_in(" ".join(meant.values())))
    missing = [
        Missing("spelling", f"{name} occurs nowhere: it is taken for {near}")
        for name, near in meant.items()
    ]
    task = replace(
        task,
        names={**task.names, **dict.fromkeys(meant.values(), CERTAIN)},
        terms={**task.terms, **terms},
        subject=(*task.subject, *terms),
        sole=meant.get(task.sole, task.sole),
    )
    return replace(question, task=task, missing=(*question.missing, *missing))


def _is_unknown(inquiry: Inquiry, name: str) -> bool:
    last = WrittenName.parse(name).name
    terms = terms_in(last)
    whole = max(terms, key=lambda term: (len(term), term), default="")
    return len(last) >= _SHORTEST and bool(whole) and not inquiry.corpus.files_with(whole)


def _defined_near(inquiry: Inquiry) -> Sequence[str]:
    # Parts of a name are mostly right; where no file holds any, the first files are as good as others.
    files = best_keys(file_text(inquiry).files, _MOST_NEAR) or range(len(inquiry.files))
    sources = [file for file in files if inquiry.files[file].is_code][:_MOST_NEAR]
    names = {
        definition.path[-1]: None
        for analysis in inquiry.load(sources).values()
        for definition in analysis.definitions
        if definition.path and len(definition.path[-1]) >= _SHORTEST
    }
    return list(names)
