"""Evidence from the kind of files: tests, documents, settings, programs."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from typing import Final

from aggregate.ranking.evidence import Evidence
from aggregate.ranking.files.analysis import FileFacts
from aggregate.ranking.inquiry import Inquiry, TaskText
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
# Words mostly for code reading such a file; only a prefix (``config: ...``) means the file itself.
_AMBIGUOUS = frozenset(
    term_list(
        "config configuration setting settings dependency dependencies toml yaml yml json ini"
    )
)
_PREFIX = re.compile(r"\s*+(?P<type>\w{2,20}+)(?:\([^()\n]{0,60}\))?!?:")
_DOCUMENTING = re.compile(
    r"\s*+(?:please\s++)?(?:re)?document\s++(?:(?:at|for|in|on|under|with|within)\s++)?(?:a|all|an|and|each|every|how|its|new|our|that|the|this|what|when|where|which|why)\b",
    re.IGNORECASE,
)  # a request for documentation; otherwise "document" may be the subject
_RULE: Final = r"\b[A-Z]{1,5}\d{3,5}\b"  # of a linter, such as ``CA1724`` and ``E501``
_DOCUMENTATION: Final = "documentation"
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
    _DOCUMENTATION: re.compile(
        r"\b(?:docs?|documentation|docstrings?|readme|changelog|typos?)\b", re.IGNORECASE
    ),
}  # tasks all over a project or outside its source, by words of the first line
# Documents naming everything in a project; only these words ask for them.
CHANGELOG = re.compile(r"(?:^|/)(?:changelogs?|changes|history|news)(?:\.\w+|/|$)", re.IGNORECASE)
_OF_CHANGES = frozenset(term_list("changelog changelogs history news"))
_README = re.compile(r"(?:^|/)readme(?:\.\w+)?$", re.IGNORECASE)
_BESIDE = frozenset({PathKind.TEST, PathKind.EXAMPLE, PathKind.BENCHMARK, PathKind.VENDORED})
_INNER = re.compile(r"(?:^|/)(?:_[A-Za-z]|(?:compat|deprecated|internals?|legacy|private)/)")
# Remaining penalty of a kind of file mentioned in the task:
_IN_SCOPE = 0.0  # the first line begins with ``docs:`` or ``test(x):``
_IN_SUBJECT = 0.3  # in the first line
_NOT_PROGRAM_IN_SUBJECT = 0.6  # for not being a program: ``config`` mostly means code
_IN_TEXT = 0.75  # often below the first line, where a task may just ask for tests as well
_OFTEN = 2
# Describes what a reporter did, does not ask for tests.
_TRYING = re.compile(r"\b(?:testing|tested|sampled|benchmarked)\b", re.IGNORECASE)
_MOST_READ = 40_000  # characters of a task; the rest is a log


def of_files(inquiry: Inquiry, exempt: Set[int] = frozenset()) -> Sequence[Evidence]:
    """Return all evidence from the kinds of files; files in ``exempt`` have no penalty."""
    # Questions are about public code, not about internal and outdated files.
    is_question = inquiry.question.task.is_question
    files = enumerate(inquiry.files if is_question else ())
    inner = {file: 1.0 for file, facts in files if _INNER.search(facts.path)}
    kinds = file_kinds(inquiry, exempt)
    return [*kinds, Evidence("inner", files=inner), language_share(inquiry)]


def file_kinds(inquiry: Inquiry, pointed: Set[int] = frozenset()) -> tuple[Evidence, ...]:
    """Return four kinds of evidence from the kinds of files.

    The kinds of evidence are: test, auxiliary, named in the task, without code. Files in ``pointed`` are exempt. The
    last kind differs from ``language_share``: it separates pages, styles and data from any program.
    """
    penalties = _penalties(inquiry.question.task)
    mentions_changelog = not _OF_CHANGES.isdisjoint(inquiry.question.task.terms)
    tests: dict[int, float] = {}
    auxiliary: dict[int, float] = {}
    requested: dict[int, float] = {}
    not_programs: dict[int, float] = {}
    for file, (facts, kind) in enumerate(zip(inquiry.files, inquiry.kinds, strict=True)):
        if file in pointed:
            continue
        penalty = penalties.get(kind, 1.0)
        if penalty and not (facts.is_code or _program_language(facts)):
            not_programs[file] = max(penalty, _NOT_PROGRAM_IN_SUBJECT)
        if kind is PathKind.SOURCE:
            continue
        is_document = kind is PathKind.DOCUMENT
        if is_document and not mentions_changelog and CHANGELOG.search(facts.path):
            penalty = 1.0
        if penalty:
            values = tests if kind is PathKind.TEST else auxiliary
            values[file] = penalty
        if penalty <= _IN_SUBJECT:
            requested[file] = 1 - penalty
    return (
        Evidence("test", files=tests, matched=dict.fromkeys(tests, "a test")),
        Evidence(
            "auxiliary",
            files=auxiliary,
            matched={file: inquiry.kinds[file].value for file in auxiliary},
        ),
        Evidence(
            "kind in the task",
            files=requested,
            matched={file: inquiry.kinds[file].value for file in requested},
        ),
        Evidence("no program", files=not_programs),
    )


# Introductions to a project besides its README: guides, build files, a test workflow, entry points. At most so
# many of each, those nearest to the root.
_GUIDES = (
    (re.compile(r"(?:^|/)(?:contributing|architecture|design|development|hacking)\.\w+$", re.I), 2),
    (
        re.compile(
            r"^(?:[^/]+/)?(?:pyproject\.toml|package\.json|cargo\.toml|go\.mod|makefile|justfile|cmakelists\.txt|pom\.xml"
            r"|(?:build|settings)\.gradle(?:\.kts)?|composer\.json|gemfile|tox\.ini|noxfile\.py|setup\.py|environment\.ya?ml"
            r"|requirements\.txt|pnpm-workspace\.yaml|deno\.jsonc?|(?:[^/]+/)?[^/]+\.csproj)$",
            re.I,
        ),
        4,
    ),
    (re.compile(r"^\.github/workflows/[^/]*(?:ci|test|check|build)[^/]*\.ya?ml$|^\.ci/", re.I), 1),
    (re.compile(r"^(?:\.travis|appveyor|azure-pipelines|\.gitlab-ci)\.ya?ml$", re.I), 1),
    (
        re.compile(
            r"(?:^|/)(?:(?:__main__|main|cli|manage)\.(?:py|rs|go|c|cc|cpp|java|kt|rb|php|[cm]?[jt]sx?)|index\.[jt]s|lib\.rs|Program\.cs)$"
        ),
        3,
    ),
)
_GUIDE = 0.85  # value of a guide; 1 for a README


def introduction(inquiry: Inquiry) -> Evidence:
    """Return evidence for files that introduce a project.

    They are the README nearest to the root, and guides.
    """
    weights = Counter[str]()  # characters of sources by top folder
    for facts, kind in zip(inquiry.files, inquiry.kinds, strict=True):
        if facts.is_code and kind is PathKind.SOURCE:
            weights[facts.path.split("/")[0]] += facts.characters
    readme = _nearest(inquiry, _README, 1, {})
    values = dict.fromkeys(readme, 1.0)
    for pattern, most in _GUIDES:
        for file in _nearest(inquiry, pattern, most, weights):
            values.setdefault(file, _GUIDE)
    matched = dict.fromkeys(values, "read first") | dict.fromkeys(readme, "its README")
    return Evidence("introduction", files=values, matched=matched)


def _nearest(
    inquiry: Inquiry, pattern: re.Pattern[str], most: int, weights: Mapping[str, int]
) -> list[int]:
    """Return the files with matching names, those at the root first; no tests and examples."""
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
    """Return the kind of chore in a task, or ``""``."""
    subject = task.text.lstrip().partition("\n")[0]
    return next((name for name, words in _CHORES.items() if words.search(subject)), "")


def kind_of_chore(chore: str) -> PathKind | None:
    """Return the kind of files that a chore, such as updating dependencies, mostly changes."""
    if not chore:
        return None
    return PathKind.DOCUMENT if chore == _DOCUMENTATION else PathKind.SETTINGS


def _penalties(task: TaskText) -> Mapping[PathKind, float]:
    """Return the penalty of each kind of file, 0 to 1.

    The penalty is lower if the task mentions the kind.
    """
    prefix = _PREFIX.match(task.text)
    scopes = {*task.scopes, *(term_list(prefix["type"]) if prefix else ())}
    if _DOCUMENTING.match(task.text):
        scopes.update(_TERMS[PathKind.DOCUMENT])
    first, _, rest = _TRYING.sub(" ", task.text.lstrip()[:_MOST_READ]).partition("\n")
    subject, counts = frozenset(term_list(first)), Counter(term_list(f"{first}\n{rest}"))
    kind_of_task = kind_of_chore(chore_of(task))
    penalties: dict[PathKind, float] = {}
    for kind, words in _TERMS.items():
        if not words.isdisjoint(scopes) or kind is kind_of_task is PathKind.SETTINGS:
            penalties[kind] = _IN_SCOPE
        elif not (words - _AMBIGUOUS).isdisjoint(subject):
            penalties[kind] = _IN_SUBJECT
        elif not words.isdisjoint(subject) or sum(counts[word] for word in words) >= _OFTEN:
            penalties[kind] = _IN_TEXT
        else:
            penalties[kind] = 1.0
    return penalties


def language_share(inquiry: Inquiry) -> Evidence:
    """Return as evidence the amount of code in each file's language, relative to the main language."""
    languages = [_program_language(facts) for facts in inquiry.files]
    characters: dict[str, int] = {}
    for facts, language, kind in zip(inquiry.files, languages, inquiry.kinds, strict=True):
        if language and kind is PathKind.SOURCE:
            characters[language] = characters.get(language, 0) + facts.characters
    most = max(characters.values(), default=0)
    shares = {language: size / most for language, size in characters.items() if size}
    values = [shares.get(language, 0.0) for language in languages]
    lifted = {kind: 1 - penalty for kind, penalty in _penalties(inquiry.question.task).items()}
    if any(lifted.values()):
        for file, kind in enumerate(inquiry.kinds):
            values[file] = max(values[file], lifted.get(kind, 0.0))
    return Evidence("language", files={file: value for file, value in enumerate(values) if value})


# Programming languages without a grammar; other files without a language count as text.
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
    """Return the language of a program, or else its suffix; ``""`` for files that are not programs."""
    if facts.language:
        return facts.language if facts.is_code else ""
    start = facts.path.rfind("/") + 1
    dot = facts.path.rfind(".", start + 1)  # a leading dot begins no suffix
    suffix = facts.path[dot:].lower() if dot > 0 else ""
    return suffix if suffix in _SUFFIXES else ""
