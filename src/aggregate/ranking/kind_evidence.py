"""What files are for and how long they and their pieces are, whatever words a task and they share."""

import re
from collections import Counter
from collections.abc import Mapping, Set
from functools import lru_cache
from math import log1p
from typing import Final

from aggregate.ranking.evidence import Evidence, FileValues, PieceValues
from aggregate.ranking.files.analysis import FileFacts
from aggregate.ranking.inquiry import Candidates, Inquiry, TaskText
from aggregate.ranking.paths import PathKind
from aggregate.ranking.terms import term_list

_WORDS: Mapping[PathKind, str] = {
    PathKind.TEST: "test tests testing spec specs fixture fixtures testcase pytest unittest coverage flaky",
    PathKind.DOCUMENT: "doc docs documentation docstring readme changelog guide tutorial typo news",
    PathKind.EXAMPLE: "example examples sample samples demo demos playground",
    PathKind.BENCHMARK: "bench benches benchmark benchmarks",
    PathKind.VENDORED: "vendor vendored vendoring bundled",
    PathKind.GENERATED: "generated codegen regenerate lockfile",
    PathKind.SETTINGS: (
        "config configuration setting settings dependency dependencies workflow lint linter makefile dockerfile docker "
        "packaging bump pin toml yaml yml json ini"
    ),
}
_TERMS: Mapping[PathKind, frozenset[str]] = {
    kind: frozenset(term_list(words)) for kind, words in _WORDS.items()
}
# Words that are mostly said of the code which reads such a file: only a prefix such as ``config: ...`` asks for it.
_AMBIGUOUS = frozenset(
    term_list(
        "config configuration setting settings dependency dependencies toml yaml yml json ini"
    )
)
_PREFIX = re.compile(r"\s*+(?P<type>\w{2,20}+)(?:\([^()\n]{0,60}\))?!?:")
_DOCUMENTING = re.compile(
    r"\s*+(?:please\s++)?(?:re)?document\s++(?:(?:at|for|in|on|under|with|within)\s++)?(?:a|all|an|and|each|every|how|its|new|our|that|the|this|what|when|where|which|why)\b",
    re.IGNORECASE,
)  # how a task begins that asks for documentation, rather than speaks of a document
_RULE: Final = r"\b[A-Z]{1,5}\d{3,5}\b"  # of a linter, such as ``CA1724`` and ``E501``
_ON_PAGES: Final = "documentation"
_CHORES: Final = {
    "dependencies": re.compile(
        r"\b(?:bump|upgrade|update|pin|unpin|renovate)\b.*\b(?:deps?|dependenc\w+|requirements|lockfile|packages)\b"
        r"|\b(?:bump|upgrade|update)s? \S+ (?:from \S+ )?to v?\d|\(deps(?:-dev)?\)|\bpre-commit autoupdate\b",
        re.IGNORECASE,
    ),
    "a release": re.compile(
        r"^(?:prepare |cut |tag |start )?(?:for )?(?:the )?(?:next )?(?:release|version)\b(?! \w+ \w)"
        r"|^v?\d+\.\d+[\w.-]*(?: release)?(?: \(#\d+\))?$"
        r"|\b(?:bump|set|update)\b.*\bversion(?: number)?(?: to)?(?: v?\d[\w.]*)?$",
        re.IGNORECASE,
    ),
    "lint": re.compile(
        r"\b(?i:black|clang-format|clippy|eslint|flake8|gofmt|golangci\S*|isort|lint\w*|mypy|prettier|pylint|rubocop|ruff"
        rf"|rustfmt|whitespace)\b|\b(?i:disable|enable|fix|ignore|suppress)\b.*{_RULE}"
    ),
    _ON_PAGES: re.compile(
        r"\b(?:docs?|documentation|docstrings?|readme|changelog|typos?)\b", re.IGNORECASE
    ),
}  # what tasks are about that are done all over a project, or beside its source; by words of the first line
# Documents that name everything that there is, and are asked for only by the word.
_CHANGELOG = re.compile(r"(?:^|/)(?:changelogs?|changes|history|news)(?:\.\w+|/|$)", re.IGNORECASE)
_OF_CHANGES = frozenset(term_list("changelog changelogs history news"))
_README = re.compile(r"(?:^|/)readme(?:\.\w+)?$", re.IGNORECASE)
_BESIDE = frozenset({PathKind.TEST, PathKind.EXAMPLE, PathKind.BENCHMARK, PathKind.VENDORED})
_INNER = re.compile(r"(?:^|/)(?:_[A-Za-z]|(?:compat|deprecated|internals?|legacy|private)/)")
# What is left of the penalty where the first line begins with ``docs:`` or ``test(x):``.
_IN_SCOPE = 0.0
_IN_SUBJECT = 0.3  # what is left of it where the first line speaks of them
# The same of what counts against a file for being no program: ``config`` is mostly said of code that reads it.
_NO_PROGRAM_IN_SUBJECT = 0.6
# What is left of it where only the rest does, more than once, which often just asks for tests as well.
_IN_TEXT = 0.75
_OFTEN = 2
# What people do before they report something: it asks for no test.
_TRYING = re.compile(r"\b(?:testing|tested|sampled|benchmarked)\b", re.IGNORECASE)
_MOST_READ = 40_000  # characters of a task: behind them it is a log


def file_kinds(inquiry: Inquiry, pointed: Set[int] = frozenset()) -> tuple[Evidence, ...]:
    """Return which files are tests, auxiliary, of a kind that the first line speaks of, and which are no programs.

    The share of a language tells a project's own from others; the last tells a page, a style or data from any program.
    """
    penalties = _penalties(inquiry.question.task)
    is_of_changes = not _OF_CHANGES.isdisjoint(inquiry.question.task.terms)
    tests: dict[int, float] = {}
    auxiliary: dict[int, float] = {}
    asked: dict[int, float] = {}
    no_programs: dict[int, float] = {}
    for file, (facts, kind) in enumerate(zip(inquiry.files, inquiry.kinds, strict=True)):
        if file in pointed:
            continue
        penalty = penalties.get(kind, 1.0)
        if penalty and not (facts.is_code or _program_language(facts)):
            no_programs[file] = max(penalty, _NO_PROGRAM_IN_SUBJECT)
        if kind is PathKind.SOURCE:
            continue
        if kind is PathKind.DOCUMENT and not is_of_changes:
            penalty = 1.0 if _CHANGELOG.search(facts.path) else penalty
        if penalty:
            values = tests if kind is PathKind.TEST else auxiliary
            values[file] = penalty
        if penalty <= _IN_SUBJECT:
            asked[file] = 1 - penalty
    return (
        Evidence("test", files=tests, matched=dict.fromkeys(tests, "a test")),
        Evidence(
            "auxiliary",
            files=auxiliary,
            matched={file: inquiry.kinds[file].value for file in auxiliary},
        ),
        Evidence(
            "kind in the task",
            files=asked,
            matched={file: inquiry.kinds[file].value for file in asked},
        ),
        Evidence("no program", files=no_programs),
    )


# Files that tell a newcomer about a project besides its README: what else is read first, how it is built and tested,
# where it starts; of each so many, those nearest to the root.
_GUIDES = (
    (re.compile(r"(?:^|/)(?:contributing|architecture|design|development|hacking)\.\w+$", re.I), 2),
    (
        re.compile(
            r"^(?:[^/]+/)?(?:pyproject\.toml|package\.json|cargo\.toml|go\.mod|makefile|justfile|cmakelists\.txt|pom\.xml"
            r"|build\.gradle(?:\.kts)?|composer\.json|gemfile|tox\.ini|noxfile\.py|setup\.py|environment\.ya?ml"
            r"|requirements\.txt|pnpm-workspace\.yaml|deno\.jsonc?)$",
            re.I,
        ),
        4,
    ),
    (re.compile(r"^\.github/workflows/[^/]*(?:ci|test|check|build)[^/]*\.ya?ml$|^\.ci/", re.I), 1),
    (
        re.compile(
            r"(?:^|/)(?:(?:__main__|main|cli|manage)\.(?:py|rs|go|c|cc|cpp|java|kt|rb|php|[cm]?[jt]sx?)|index\.[jt]s|lib\.rs)$"
        ),
        3,
    ),
)
_OF_GUIDE = 0.85  # The part of what a README has


def introduction(inquiry: Inquiry) -> Evidence:
    """Return the files that tell a newcomer about the project: its README nearest to the root, then a few others."""
    weights = Counter[str]()  # characters of sources by the first folder
    for facts, kind in zip(inquiry.files, inquiry.kinds, strict=True):
        if facts.is_code and kind is PathKind.SOURCE:
            weights[facts.path.split("/")[0]] += facts.characters
    readme = _nearest(inquiry, _README, 1, {})
    found = dict.fromkeys(readme, 1.0)
    for pattern, most in _GUIDES:
        for file in _nearest(inquiry, pattern, most, weights):
            found.setdefault(file, _OF_GUIDE)
    matched = dict.fromkeys(found, "read first") | dict.fromkeys(readme, "its README")
    return Evidence("introduction", files=found, matched=matched)


def _nearest(
    inquiry: Inquiry, pattern: re.Pattern[str], most: int, weights: Mapping[str, int]
) -> list[int]:
    """Return the files whose paths match, no tests or examples.

    Those at the root come first, then those of heavier folders, then those of fewer folders.
    """
    matches = [
        (
            facts.path.count("/") > 0,
            -weights.get(facts.path.split("/")[0], 0),
            facts.path.count("/"),
            len(facts.path),
            facts.path,
            file,
        )
        for file, facts in enumerate(inquiry.files)
        if pattern.search(facts.path) and inquiry.kinds[file] not in _BESIDE
    ]
    return [match[-1] for match in sorted(matches)[:most]]


def chore_of(task: TaskText) -> str:
    """Return which work a task is about that is done beside the source or all over it, ``""`` for none."""
    subject = task.text.lstrip().partition("\n")[0]
    return next((name for name, words in _CHORES.items() if words.search(subject)), "")


def kind_of_chore(chore: str) -> PathKind | None:
    """Return the kind of files that such work mostly changes; ``None`` where it is none."""
    return (chore and (PathKind.DOCUMENT if chore == _ON_PAGES else PathKind.SETTINGS)) or None


def _penalties(task: TaskText) -> Mapping[PathKind, float]:
    """Return what is left of what counts against each kind of file, as far as the task speaks of it."""
    prefix = _PREFIX.match(task.text)
    scopes = {*task.scopes, *(term_list(prefix["type"]) if prefix else ())}
    if _DOCUMENTING.match(task.text):
        scopes.update(_TERMS[PathKind.DOCUMENT])
    first, _, rest = _TRYING.sub(" ", task.text.lstrip()[:_MOST_READ]).partition("\n")
    subject, counts = frozenset(term_list(first)), Counter(term_list(f"{first}\n{rest}"))
    of_chore = kind_of_chore(chore_of(task))
    penalties: dict[PathKind, float] = {}
    for kind, words in _TERMS.items():
        if not words.isdisjoint(scopes) or kind is of_chore is PathKind.SETTINGS:
            penalties[kind] = _IN_SCOPE
        elif not (words - _AMBIGUOUS).isdisjoint(subject):
            penalties[kind] = _IN_SUBJECT
        else:
            is_told = not words.isdisjoint(subject) or sum(counts[each] for each in words) >= _OFTEN
            penalties[kind] = _IN_TEXT if is_told else 1.0
    return penalties


def inner_files(inquiry: Inquiry) -> Evidence:
    """Return the files that a path calls inner or outdated: who asks looks for what is there for others to use."""
    files = inquiry.question.task.asks and [
        file for file, facts in enumerate(inquiry.files) if _INNER.search(facts.path)
    ]
    return Evidence("inner", files=dict.fromkeys(files or (), 1.0))


def language_share(inquiry: Inquiry) -> Evidence:
    """Return the share that a file's language has of the project's source, scaled to the most used language."""
    languages = [_program_language(facts) for facts in inquiry.files]
    characters: dict[str, int] = {}
    for facts, language, kind in zip(inquiry.files, languages, inquiry.kinds, strict=True):
        if language and kind is PathKind.SOURCE:
            characters[language] = characters.get(language, 0) + facts.characters
    most = max(characters.values(), default=0)
    shares = {language: size / most for language, size in characters.items() if size}
    values = [shares.get(language, 0.0) for language in languages]
    lifted = {kind: 1 - penalty for kind, penalty in _penalties(inquiry.question.task).items()}
    for file, kind in enumerate(inquiry.kinds if any(lifted.values()) else ()):
        if share := lifted.get(kind):
            values[file] = max(values[file], share)
    return Evidence("language", files=FileValues(values))


# Of languages that projects are written in; what is left out counts as text, as most files without a language are.
_SUFFIXES = frozenset(
    """
    .ada .adb .ads .agda .ahk .applescript .asm .astro .awk .bas .bb .bqn .bzl .capnp .cbl .clj .cljc .cljs .cmd .cob
    .coffee .comp .cr .csh .d .dpr .el .elm .elv .f .f77 .factor .fbs .fish .fnl .for .forth .frag .fsi .fsx .fth .gd
    .geom .gleam .glsl .hlsl .hrl .hx .hy .idr .janet .kk .ksh .l .lean .lfe .lisp .litcoffee .lpr .lsp .m4 .metal .mm
    .mojo .moon .nims .nu .nut .odin .pas .pony .prolog .psm1 .purs .pxd .pxi .pyx .qml .raku .rakumod .rei .rkt .roc .s
    .sml .star .sv .svh .tcl .thrift .v .vala .vapi .vb .vbs .vert .vhd .vhdl .vim .wat .wgsl .wren .xs .y .zsh
    """.split()  # noqa: SIM905 - a line for each word would fill a page
)


def _program_language(facts: FileFacts) -> str:
    """Return what tells a program's language from others: its name, or its suffix; ``""`` for what is no program."""
    if facts.language:
        return facts.language if facts.is_code else ""
    start = facts.path.rfind("/") + 1
    dot = facts.path.rfind(".", start + 1)  # a name that begins with a dot has no suffix
    suffix = facts.path[dot:].lower() if dot > 0 else ""
    return suffix if suffix in _SUFFIXES else ""


_CHARACTERS_PER_TOKEN = 4
# The size, in the logarithm of tokens, that counts 1: the largest source file of most projects. A constant, since a
# single generated file would change what all others weigh.
_LARGE_FILE = log1p(30_000)
_LARGE_PIECE = log1p(400)  # the same for a piece: some 25 lines of 16 tokens
_MOST = 1.5  # the most that a size counts: a file of 100 MB is hardly less likely than one of 10
_FUNCTIONS = frozenset(
    """
    callback constructor destructor function macro method operator procedure subroutine test
    """.split()  # noqa: SIM905 - a line for each word would fill a page
)


def file_sizes(inquiry: Inquiry) -> Evidence:
    values = (
        min(_MOST, log1p(facts.characters / _CHARACTERS_PER_TOKEN) / _LARGE_FILE)
        for facts in inquiry.files
    )
    return Evidence("file size", files=FileValues(values))


def piece_shapes(candidates: Candidates) -> tuple[Evidence, Evidence, Evidence]:
    """Return the logarithms of the pieces' tokens, which are outside of definitions, and which are functions'."""
    sizes: dict[int, list[float]] = {}
    outside: dict[int, list[float]] = {}
    functions: dict[int, list[float]] = {}
    for file, analysis in candidates.items():
        # -1, which is no definition, is the last of these.
        in_function = [definition.kind in _FUNCTIONS for definition in analysis.definitions]
        in_function.append(False)
        pieces = analysis.pieces
        sizes[file] = [_piece_size(piece.characters) for piece in pieces]
        outside[file] = [1.0 if piece.definition < 0 else 0.0 for piece in pieces]
        functions[file] = [1.0 if in_function[piece.definition] else 0.0 for piece in pieces]
    return (
        Evidence("piece size", pieces=PieceValues(sizes)),
        Evidence("outside definitions", pieces=PieceValues(outside)),
        Evidence("function", pieces=PieceValues(functions)),
    )


@lru_cache(maxsize=4_096)  # most pieces are shorter than that
def _piece_size(characters: int) -> float:
    return min(_MOST, log1p(characters / _CHARACTERS_PER_TOKEN) / _LARGE_PIECE)
