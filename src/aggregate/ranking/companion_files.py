"""Find the tests and documents of likely source files."""

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

from aggregate.ranking.evidence import Evidence, best_keys
from aggregate.ranking.inquiry import Inquiry
from aggregate.ranking.kind_evidence import CHANGELOG
from aggregate.ranking.paths import DOCUMENT_SUFFIXES, PathKind
from aggregate.ranking.terms import term_list

# Name of the evidence and most files, by kind of file.
_COMPANION_KINDS: Final = {PathKind.TEST: ("tests", 30), PathKind.DOCUMENT: ("documents", 10)}
COMPANIONS: Final = frozenset(name for name, _ in _COMPANION_KINDS.values())
_MOST_SOURCES: Final = 20
_MENTION: Final = 0.3  # value of a file that mentions a source; 1 for one named like it
# A task with a smaller penalty asks for these files themselves, not as companions.
_REQUESTED: Final = 0.5
_AFFIXES: Final = re.compile(
    r"^(?:test|spec)s?[_.-]|(?:[_.-]?(?:tests?|specs?|e2e))$", re.IGNORECASE
)
_FIXTURE: Final = re.compile(
    r"(?:^|/)(?:__)?(?:fixtures?|snapshots?|testdata)(?:__)?/", re.IGNORECASE
)
_EXCLUDED: Final = re.compile(
    r"\b(?:no|not|without|except|excluding|exclude|ignore|ignoring|skip|leave out|omit)\b[^.;\n]{0,30}?"
    r"\b(?:(?P<tests>tests?)|(?P<documents>docs?|documents?|documentation))\b",
    re.IGNORECASE,
)


def companions(
    inquiry: Inquiry, sums: Sequence[float], against: Mapping[int, float]
) -> list[Evidence]:
    """Return evidence for tests and documents of likely source files.

    A task can exclude either ("without tests"). A review only has companions of the changed files.

    Args:
        inquiry: The question and its corpus.
        sums: Score by file.
        against: Penalty of tests and documents by file, 0 to 1; low if the task asks for them.
    """
    question = inquiry.question
    changed = {change.path for change in question.changes if not question.task.text.strip()}
    likely = {
        file: sums[file]
        for file, kind in enumerate(inquiry.kinds)
        if kind is PathKind.SOURCE and (not changed or inquiry.files[file].path in changed)
    }
    sources = [inquiry.files[file].path for file in best_keys(likely, _MOST_SOURCES)]
    names = {path: term_list(_stem(path))[:1] for path in sources}  # the first is the whole name's
    inquiry.corpus.look_up([*chain.from_iterable(names.values())])
    excluded = {match.lastgroup for match in _EXCLUDED.finditer(question.task.text)}
    evidences: list[Evidence] = []
    for kind, (name, most) in _COMPANION_KINDS.items():
        files = [
            file
            for file, value in against.items()
            if value > _REQUESTED
            and inquiry.kinds[file] is kind
            and name not in excluded
            and _explains(inquiry.files[file].path, kind)
        ]
        values, matched = _match_sources(inquiry, files, names)
        best = best_keys({file: sums[file] + 2 * value for file, value in values.items()}, most)
        evidences.append(
            Evidence(
                name,
                files={file: values[file] for file in best},
                matched={file: matched[file] for file in best},
            )
        )
    return evidences


def _explains(path: str, kind: PathKind) -> bool:
    """Return whether a file is a test or prose.

    Test data do not count, nor do changelogs, which mention every source.
    """
    if kind is PathKind.TEST:
        return not _FIXTURE.search(path)
    suffix = path.rpartition("/")[2].partition(".")[2].rpartition(".")[2]
    return (not suffix or suffix.lower() in DOCUMENT_SUFFIXES) and not CHANGELOG.search(path)


def _match_sources(
    inquiry: Inquiry, files: Sequence[int], names: Mapping[str, Sequence[str]]
) -> tuple[dict[int, float], dict[int, str]]:
    """Match test or document files to source files by name.

    Return by file how certain the match is, and the path of the source.
    """
    by_stem: dict[str, list[int]] = {}
    for file in files:
        by_stem.setdefault(_stem(inquiry.files[file].path), []).append(file)
    wanted = set(files)
    values: dict[int, float] = {}
    matched: dict[int, str] = {}
    for rank, (path, terms) in enumerate(names.items()):
        same_stem = dict.fromkeys(by_stem.get(_stem(path), ()), 1.0)
        mentions = {file for term in terms for file in inquiry.corpus.files_with(term)}
        for file in (*same_stem, *sorted(wanted.intersection(mentions))):
            value = same_stem.get(file, _MENTION) * (1 - rank / (2 * _MOST_SOURCES))
            if value > values.get(file, 0.0):
                values[file], matched[file] = value, path
    return values, matched


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    return _AFFIXES.sub("", name.partition(".")[0] if name[0] != "." else name).strip("_-").lower()
