"""Detect vague tasks, misspelt names and missing evidence (rule T-9)."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from itertools import chain
from typing import Final

from aggregate.base.task_budget import Guess, Missing
from aggregate.code.syntax import HOW_TO_INSTALL, LANGUAGES
from aggregate.ranking.evidence import Evidence, RankedFile, best_keys
from aggregate.ranking.inquiry import Candidates, Inquiry, Question
from aggregate.ranking.kind_evidence import chore_of, kind_of_chore
from aggregate.ranking.mentions import traced_files
from aggregate.ranking.named_identifiers import CERTAIN, POSSIBLE, name_parts
from aggregate.ranking.paths import PathKind
from aggregate.ranking.terms import terms_in
from aggregate.ranking.text_evidence import file_text

# Evidence pointing at code if its value is at least ``_POINTED``.
_POINTING: Final = frozenset({
    "all of the task", "changed since", "file named in the first line", "focus", "named in the task", "symbol",
    "used as written",
})  # fmt: skip
_POINTED: Final = 0.5
_NAMING: Final = ("words of the file's name", "words of the name")
_LIKELIEST: Final = 10
# Total probability of the ten likeliest files, reached by nearly all tasks whose words point at code.
_SURE: Final = 0.5
_MOST_PROPOSED: Final = 5
_POINTLESS: Final = "nothing in the task points at specific code"


def doubts(
    inquiry: Inquiry,
    evidences: Sequence[Evidence],
    *,
    candidates: Candidates,
    files: Sequence[RankedFile],
) -> tuple[Sequence[Missing], Guess | None]:
    """Return the missing evidence, and why the order of the files is a guess, if it is one."""
    missing = [
        *inquiry.question.missing,
        *(evidence.missing for evidence in evidences if evidence.missing),
        *_missing_text(inquiry),
        *_missing_definitions(inquiry, candidates),
    ]
    guess = _guess_of(inquiry, evidences, candidates, files)
    return tuple(dict.fromkeys(missing)), guess


def _guess_of(
    inquiry: Inquiry,
    evidences: Sequence[Evidence],
    candidates: Candidates,
    files: Sequence[RankedFile],
) -> Guess | None:
    if is_pointed(inquiry, evidences):
        return None
    chore = chore_of(inquiry.question.task)
    likeliest = sum(file.score for file in files[:_LIKELIEST])
    if not chore and likeliest >= _SURE and _names_source(inquiry, evidences):
        return None
    reason = f"a task about {chore} points at no specific code" if chore else _POINTLESS
    wanted = kind_of_chore(chore)
    of_kind = [file for file in files if inquiry.kinds[file.file] is wanted and file.score]
    likely = [*of_kind, *files] if wanted else files
    proposals = dict.fromkeys(_proposals(inquiry, candidates, likely))
    return Guess(reason, tuple(proposals)[:_MOST_PROPOSED])


def is_pointed(inquiry: Inquiry, evidences: Sequence[Evidence]) -> bool:
    """Return whether the task names a file, a definition or a location that the project has."""
    if traced_files(inquiry):
        return True
    for evidence in evidences:
        values = chain(evidence.files.values(), evidence.pieces.values())
        if evidence.kind in _POINTING and any(value >= _POINTED for value in values):
            return True
    return False


def _names_source(inquiry: Inquiry, evidences: Sequence[Evidence]) -> bool:
    for evidence in evidences:
        if evidence.kind in _NAMING:
            for file in chain(evidence.files, (file for file, _ in evidence.pieces)):
                if inquiry.kinds[file] is PathKind.SOURCE:
                    return True
    return False


def _proposals(
    inquiry: Inquiry, candidates: Candidates, files: Sequence[RankedFile]
) -> Iterator[str]:
    for ranked in files[: 4 * _MOST_PROPOSED]:
        path, kind = inquiry.files[ranked.file].path, inquiry.kinds[ranked.file]
        name = ""
        if kind is PathKind.SOURCE and ranked.file in candidates and ranked.pieces:
            analysis = candidates[ranked.file]
            best = max(range(len(ranked.pieces)), key=ranked.pieces.__getitem__)
            definition = analysis.pieces[best].definition
            name = ".".join(analysis.definitions[definition].path) if definition >= 0 else ""
        if kind is not PathKind.TEST:
            yield f"{name} in {path}" if name else path


_SHORTEST: Final = 5  # letters; shorter identifiers are not corrected
_NEAR: Final = 0.79  # similarity, 1 for equal: one slip in five letters, two in ten
_SHORTEST_WORD: Final = 7  # letters of a plain word, compared with the names of files
_NEAR_WORD: Final = 0.86  # one slip in seven letters
_MOST_MISSPELT: Final = 3
# Files searched for similar names: 300 take a second and a half more.
_MOST_NEAR: Final = 60


def corrected(inquiry: Inquiry) -> Inquiry:
    """Return the inquiry without names of other packages, and with corrected spelling."""
    inquiry = replace(inquiry, question=without_foreign_names(inquiry))
    question = spelt(inquiry)
    return inquiry if question is inquiry.question else Inquiry.of(inquiry.corpus, question)


def without_foreign_names(inquiry: Inquiry) -> Question:
    """Return the question without names of other packages, and without the project's own name."""
    task = inquiry.question.task
    known: Set[str] = frozenset()
    if task.imported:
        known = {*inquiry.paths.folders_by_name, *inquiry.paths.by_stem, ""}
    packages = {part for facts in inquiry.files for part in facts.path.lower().split("/")[:2]}
    names: dict[str, float] = {}
    foreign: set[str] = set()
    for text, certainty in task.names.items():
        root, *rest = text.split(".")
        module = task.imported.get(root)
        if module is not None and module.partition(".")[0] not in known:
            foreign.update((text, *rest[-1:]))
        elif module is not None and rest:
            names[".".join(rest)] = certainty
        else:
            is_project = text.isalpha() and text.lower() in packages and not task.sole
            names[text] = POSSIBLE if is_project else certainty
    names = {text: certainty for text, certainty in names.items() if text not in foreign}
    if names == task.names:
        return inquiry.question
    return replace(inquiry.question, task=replace(task, names=names))


def spelt(inquiry: Inquiry) -> Question:
    """Return the question with corrected spelling of names that the project does not have."""
    question, task = inquiry.question, inquiry.question.task
    first_line = task.text.lstrip().partition("\n")[0]
    unknown: list[str] = []
    words: list[str] = []
    for name, sure in task.names.items():
        if sure >= CERTAIN and _is_unknown(inquiry, name):
            unknown.append(name)
        elif len(name) >= _SHORTEST_WORD and name in first_line and _is_unknown(inquiry, name):
            words.append(name)
    if not unknown and not words:
        return question
    from rapidfuzz import process  # 10 ms, and few tasks misspell a name
    from rapidfuzz.distance import DamerauLevenshtein

    definitions = _definition_names(inquiry) if unknown else ()
    stems = [stem for stem in inquiry.paths.by_stem if len(stem) >= _SHORTEST_WORD]
    corrections: dict[str, str] = {}
    for name in (unknown + words)[:_MOST_MISSPELT]:
        nearest = process.extractOne(
            name_parts(name)[-1],
            definitions if name in unknown else stems,
            scorer=DamerauLevenshtein.normalized_similarity,
            score_cutoff=_NEAR if name in unknown else _NEAR_WORD,
        )
        if nearest:
            corrections[name] = nearest[0]
    if not corrections:
        return question
    terms = dict(terms_in(" ".join(corrections.values())))
    missing = [
        Missing("spelling", f"{name} occurs nowhere, using {near} instead")
        for name, near in corrections.items()
    ]
    task = replace(
        task,
        names={**task.names, **dict.fromkeys(corrections.values(), CERTAIN)},
        terms={**task.terms, **terms},
        subject=(*task.subject, *terms),
        sole=corrections.get(task.sole, task.sole),
    )
    return replace(question, task=task, missing=(*question.missing, *missing))


def _is_unknown(inquiry: Inquiry, name: str) -> bool:
    last = name_parts(name)[-1]
    terms = terms_in(last)
    longest = max(terms, key=lambda term: (len(term), term), default="")
    return len(last) >= _SHORTEST and bool(longest) and not inquiry.corpus.files_with(longest)


def _definition_names(inquiry: Inquiry) -> Sequence[str]:
    # Parts of a misspelt name are mostly right, so search the files with words of the task, else any.
    files = best_keys(file_text(inquiry).files, _MOST_NEAR) or range(len(inquiry.files))
    sources = [file for file in files if inquiry.files[file].is_code][:_MOST_NEAR]
    names = {
        definition.path[-1]: None
        for analysis in inquiry.load(sources).values()
        for definition in analysis.definitions
        if definition.path and len(definition.path[-1]) >= _SHORTEST
    }
    return list(names)


# Characters of a language's files from which a lack of definitions is reported.
_FEW_CHARACTERS = 2_000
# Smallest reported share of text in unknown languages: every project has a licence and the like.
_MANY = 0.2


def _missing_text(inquiry: Inquiry) -> Iterator[Missing]:
    if not inquiry.files:
        yield Missing("files", "no files to rank")
    elif any(gap.evidence == "text" for gap in inquiry.question.missing):
        return  # the caller has reported it
    elif not inquiry.question.task.text.strip():
        yield Missing("text", "the task has no text")
    elif not inquiry.terms:
        yield Missing("text", "the task has no words to compare with the files")
    elif not any(term.files for term in inquiry.terms):
        yield Missing("text", "none of the task's words occurs in a file")


def _missing_definitions(inquiry: Inquiry, candidates: Candidates) -> Iterator[Missing]:
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
    uninstalled = {language.name for language in LANGUAGES if not language.is_installed}
    for language in sorted(characters):
        if language in defining or characters[language] < _FEW_CHARACTERS:
            continue
        if language in uninstalled:
            why = "is read as plain text, as its grammar is not installed"
            yield Missing("grammars", f"{language} {why}: {HOW_TO_INSTALL}")
        else:
            yield Missing("definitions", f"no definitions were found in {language}")
    size = sum(inquiry.files[file].characters for file in candidates)
    unknown_size = sum(inquiry.files[file].characters for file in unknown)
    if unknown and unknown_size >= _MANY * size:
        path = inquiry.files[unknown[0]].path
        suffix = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        yield Missing("definitions", f"no grammar for {path}{suffix}")
