"""Parse a task: its terms, topic, scopes, names and quotations."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import chain, groupby, islice
from typing import Final

from aggregate.base.text import heading_level, with_fences
from aggregate.ranking.code_locations import locations_in
from aggregate.ranking.inquiry import TaskText
from aggregate.ranking.message_text import change_words, own_words
from aggregate.ranking.named_identifiers import names_of_task
from aggregate.ranking.terms import (
    COMMIT_WORDS,
    NO_TERMS,
    STOP_WORDS,
    root_of,
    split_identifier,
    term_list,
    terms_in,
)

# Half from the beginning and half from the end: the middle of a longer text is a log.
_MOST_CHARACTERS: Final = 400_000
# Likewise for names and locations; far more than a person writes.
_MOST_SEARCHED: Final = 40_000
_LONGEST_SUBJECT: Final = 300
_MOST_SCOPES: Final = 3

_BLANK_LINES: Final = re.compile(r"\n(?:[ \t]*+\n)++")
_BRACKETS: Final = re.compile(r"\s*+\[(?P<scope>[^\[\]]{1,60})\]\s*+:?")
_CONVENTIONAL: Final = re.compile(r"\s*+(?P<type>[A-Za-z]{2,12})\((?P<scope>[^()]{1,60})\)!?:\s")
# At the beginning of the text, where the type looks like a function call.
_TYPE: Final = re.compile(rf"\A{_CONVENTIONAL.pattern}")
_PREFIX: Final = re.compile(
    r"\s*+(?P<scope>[\w./,*{}@+-]{1,40}+(?: [\w./,*{}@+-]{1,40}+){0,2}?)!?:\s"
)
# Words before a colon for a kind of change or message. ``docs`` and ``tests`` are scopes.
_NO_SCOPES: Final = frozenset({
    "aw", "breaking", "bug", "bugfix", "build", "chore", "crash", "enhancement", "error", "fatal", "feat", "feature",
    "fix", "fixes", "fwd", "hotfix", "idea", "improvement", "issue", "note", "panic", "perf", "problem", "proposal",
    "question", "re", "refactor", "regression", "request", "revert", "rfc", "style", "task", "todo", "urgent",
    "warning", "wip",
})  # fmt: skip
_FAILURE: Final = re.compile(r"(?:[\w.$]*(?:Error|Exception|Warning|Fault)|Traceback\b.*)$")
_LETTER: Final = re.compile(r"[^\W_]")
_TRACEBACK: Final = re.compile(r"\s*+(?:Traceback \(most recent|goroutine \d|Exception in thread)")
_PYTHON_FRAME: Final = re.compile(r'File "([^"\n]{1,400})", line \d{1,7}(?:, in )?')
_WORDING: Final = re.compile(
    r"Traceback \(most recent call last\):|During handling of the above exception, another exception occurred:"
    r"|The above exception was the direct cause of the following exception:|Exception in thread \"[^\"\n]{0,100}\""
    r"|stack backtrace:|goroutine \d{1,9} \[[^\]\n]{0,60}\]:|\bRUST_BACKTRACE=[^\n]{0,200}"
    r"|node:internal/[^\s()]{1,200}|\+?0x[0-9a-fA-F]{1,16}\b"
)
_QUOTE: Final = re.compile(r"^>(?:[ \t]?>)*+ ?(?![ \t])", re.MULTILINE)
# Compounds with one letter, which is not a term.
_COMPOUND: Final = re.compile(r"(?<![\w./-])([A-Za-z])-([A-Za-z]{2,})(?![\w./-])")
_ANY_NUMBER: Final = re.compile(r"0x[0-9a-fA-F]++|[0-9][0-9a-fA-F]*+")
# Occurrences of a line (ignoring numbers) in a log, whose rare lines matter.
_OFTEN: Final = 12


def read_task(text: str) -> TaskText:
    """Parse the text of a task, in time proportional to its length."""
    shortened = _ends(text.replace("\r\n", "\n").replace("\r", "\n"), _MOST_CHARACTERS)
    shortened = _BLANK_LINES.sub("\n\n", shortened)
    # An issue without its form, its environment and tables of versions.
    lines = own_words(shortened).split("\n")
    report = "\n".join(_without_versions(_without_form(lines)))
    words = _without_repetition(report)
    subject = _subject(words)
    words = _WORDING.sub(" ", _PYTHON_FRAME.sub(r"\1 ", words))
    searched = _ends(words, _MOST_SEARCHED)
    scopes: list[str] = []
    rest = subject
    for _ in range(_MOST_SCOPES):
        match = _BRACKETS.match(rest) or _CONVENTIONAL.match(rest) or _PREFIX.match(rest)
        if match is None or _FAILURE.match(match["scope"]):
            break
        if match["scope"].lower() not in _NO_SCOPES:
            scopes += term_list(match["scope"])
        rest = rest[match.end() :]
    is_question = looks_like_question(text)
    topic = topic_words(rest, is_question=is_question)
    sole, names = names_of_task(words, _TYPE.sub(r"\g<scope>: ", searched))
    return TaskText(
        terms=dict(terms_in(words) + Counter(_compounds(words))),
        subject=tuple(dict.fromkeys([*term_list(subject), *_compounds(subject)])),
        topic=topic,
        is_question=bool(topic) and is_question,
        scopes=tuple(dict.fromkeys(scopes)),
        sole=sole,
        names=names,
        imported=_imported_names(_ends(report, _MOST_SEARCHED)),
        quotes=_quoted_terms(_ends(report, _MOST_SEARCHED)),
        locations=locations_in(_QUOTE.sub("", _ends(shortened, _MOST_SEARCHED))),
        text=text,
        change_words=tuple(sorted(change_words(subject))),
    )


def _compounds(text: str) -> list[str]:
    """Return the terms for hyphenated words: ``k-means`` may be ``KMeans`` or ``kmeans`` in code."""
    words = [(match[1] + match[2]).lower() for match in _COMPOUND.finditer(text)]
    return [term for word in words for term in dict.fromkeys((word, *term_list(word)))]


def _ends(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}\n{text[-most // 2 :]}"


def _subject(words: str) -> str:
    """Return the first line of a task.

    For a task beginning with a traceback, it is the line with the error.
    """
    lines = iter(words.split("\n"))
    first = next((line for line in lines if _LETTER.search(line)), "")
    if _TRACEBACK.match(first):
        first = next(
            (line for line in lines if line[:1].strip() and not _TRACEBACK.match(line)), first
        )
    return first.strip()[:_LONGEST_SUBJECT]


def _without_repetition(text: str) -> str:
    """Drop lines that repeat earlier ones except for numbers, unless no word would remain."""
    lines = text.split("\n")
    if len(lines) < _OFTEN:
        return text
    shapes = [_ANY_NUMBER.sub("0", line.strip()) for line in lines]
    often = {shape for shape, times in Counter(shapes).items() if shape and times >= _OFTEN}
    rare = [line for line, shape in zip(lines, shapes, strict=True) if shape not in often]
    rest = "\n".join(rare)
    return rest if re.search(r"[^\W\d_]", rest) else text


# Words before circumstances in a first line.
_CIRCUMSTANCES: Final = re.compile(
    r"\b(?:after|are|as|at|be|before|by|during|for|from|in|into|is|like|of|on|that|through|to|using|via|was|were|when"
    r"|with|without)\b",
    re.IGNORECASE,
)
_ASKING: Final = re.compile(
    r"\s*+(?:(?:how|what|when|where|which|who|why)\b(?>(?:\s++(?:are|can|did|do|does|is|should|to)\b)*))?",
    re.IGNORECASE,
)
_QUESTION: Final = re.compile(
    r"\s*+(?:can|do(?! not\b)|does|how|is|what|when|where|which|who|why)\b(?!['’]t)", re.IGNORECASE
)
# Verbs of a statement (a fault, a request), absent in the name of a thing.
_STATING: Final = re.compile(
    r"^(?!.*\bhow\b).*(?:\b(?:are|can|cannot|could|crash(?:es)?|did|do|does|fails?|had|hangs?|has|have|ignores?|is|must"
    r"|raises?|returns?|should|was|were|will|would)\b|n't\b)",
    re.IGNORECASE,
)
# First words of a request for a change; a commit's first line with another verb counts as a question.
_CHANGING: Final = COMMIT_WORDS | frozenset(
    """
    accept apply avoid bring build check clarify clean clear convert correct create cut declare default define delete
    deprecate detect disable document don drop enable ensure expose extend extract finish format generate get give guard
    handle hide ignore implement include increase initialize inline install keep let limit link log mark mention migrate
    mock move normalize omit only optimise optimize optionally override parse pass pin port prefer prepare prevent print
    properly publish put raise re read reduce reenable reject relax rename reorder reorganize replace report require
    reset respect restore restrict return reuse rewrite run separate set show simplify skip sort specify speed split
    start stop store streamline strip switch sync test tidy translate treat trim try turn undo unify upgrade validate
    warn work workaround wrap write
    """.split()  # noqa: SIM905 - a list with a line for each word would fill pages
)
_COMMIT_MARK: Final = re.compile(r"\(#\d+\)|\bv?\d+\.\d+|\w:\s|\S\n")
_CIRCUMSTANCE: Final = 0.25  # weight of a circumstance's word; 1 for the topic
# Weight of a question's word relative to the one before: the topic comes first. NDCG of answers is .012 higher on 17
# projects and .004 lower on eight others, within noise; changes would be found less well.
_NEXT: Final = 0.8
_WORD: Final = re.compile(r"[^\W\d_]\w*")
_MOST_WORDS: Final = 40


def topic_words(line: str, *, is_question: bool) -> Mapping[str, float]:
    """Return the stems of the words in a task's first line, with a weight for each."""
    begin = _ASKING.match(line)
    rest = line[begin.end() :] if begin else line
    ignored = STOP_WORDS if is_question else NO_TERMS  # a question may be about ``add``
    ends = [match.start() for match in _CIRCUMSTANCES.finditer(rest)]
    end = next((end for end in ends if _roots(rest[:end], ignored)), None)
    words = dict.fromkeys(_roots(rest, ignored), _CIRCUMSTANCE)
    words |= dict.fromkeys(_roots(rest[:end], ignored), 1.0)
    step = _NEXT if is_question else 1.0
    return {word: value * step**index for index, (word, value) in enumerate(words.items())}


def looks_like_question(text: str) -> bool:
    """Return whether a task is a question or names something."""
    text = text.strip()
    first = _WORD.search(text)
    if first is None:
        return False
    if _QUESTION.match(text) or text.endswith("?"):
        return True
    is_change = first[0].lower() in _CHANGING or _COMMIT_MARK.search(text)
    return not (is_change or _STATING.match(text))


def _roots(text: str, ignored: Set[str]) -> Sequence[str]:
    roots: list[str] = []
    for word in _WORD.findall(text)[:_MOST_WORDS]:
        for part in split_identifier(word):
            lower = part.lower()
            if len(lower) > 1 and lower not in ignored:
                roots.append(root_of(lower))
    return roots


# A heading of these words alone is part of a form.
_FORM_WORDS: Final = frozenset(
    """
    a actual additional affected also and any anything are as behavior behaviour bug can checklist code command complete
    config configuration context current debug describe description details did do does else error example expect
    expected feature file files for full happened help how i in info information input instead is issue it job link log
    logs me message minimal more motivation my notes observed of or other output please possible problem project
    proposal proposed python question reason related relevant replicate report reproduce reproducer reproducible
    reproducing reproduction request response result results sample screenshot screenshots see short should snippet
    solution solutions stack step steps suggested summary tasks that the this to trace traceback under usage used
    verifiable was were what when where which why with working would you your
    """.split()  # noqa: SIM905 - a line for each word would fill a page
)
# The heading of a section about the reporter's machine.
_ENVIRONMENT: Final = re.compile(
    r"(?:\S+ ){0,4}?(?:environment|versions?|platform|dependenc(?:y|ies)|operating system|os|system)"
    r"(?: (?:details?|info|information|is|used|of \S+))?"
)
_CHECK_BOX: Final = re.compile(r"[ \t]*+[-*] \[[ xX]\] .*")
_SOFTWARE_VERSION: Final = re.compile(
    r"[ \t>*|-]*[A-Za-z[][\w./()@+ \[-]{0,60}?[ \t:=|]++(?:\(?v?\d+\.\d+\.\d+.{0,100}|None)"
)
_FEWEST_VERSIONS: Final = 3  # lines of a paragraph about the installed software

_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*")
_IMPORTED: Final = re.compile(
    r"^[ \t]*+(?:(?:>>>|\.\.\.|In ?\[\d{1,4}\]:) ?)?(?:from (?P<source>[\w.]++) )?import (?P<names>[\w., ]{1,200})",
    re.MULTILINE,
)
_MOST_QUOTES: Final = 60
_FEWEST_SIGNS: Final = 2  # of a line of code, such as brackets
_SIGN: Final = re.compile(r"[()\[\]{}=.;:<>&|+*/\"'-]")
_TYPED: Final = re.compile(r"[ \t]*+(?:>>>|\.\.\. |In ?\[|\$ |import |from \S+ import )")
_STATEMENT: Final = re.compile(r"[\w.]{1,80}+(?: ?=|\()(?!.*[a-z]{2} [a-z]{2,20} [a-z]{2})")
_VALUE: Final = re.compile(r"'[^']{1,100}'")
_TRACED: Final = re.compile(
    r"[ \t]*+(?:-++>|>|E(?= ))?[ \t]*+(?:\d{1,6} |\S{1,300}:\d{1,7}:(?:\d{1,7}:)? ?)?"
)


def _without_form(lines: Sequence[str]) -> Iterator[str]:
    is_begun = is_environment = False
    for line, is_code in with_fences(lines):
        if not is_code and heading_level(line):
            title = " ".join(_IDENTIFIER.findall(line.lower()))
            is_environment = is_begun and bool(_ENVIRONMENT.fullmatch(title))
            if _FORM_WORDS.issuperset(title.split()):
                continue
        elif not is_code and _CHECK_BOX.fullmatch(line):
            continue
        is_begun = is_begun or bool(line.strip())
        if not is_environment:
            yield line


def _without_versions(lines: Iterator[str]) -> Iterator[str]:
    for is_blank, group in groupby(lines, lambda line: not line.strip(" \t`~")):
        paragraph = list(group)
        versions = sum(1 for line in paragraph if _SOFTWARE_VERSION.fullmatch(line))
        if is_blank or versions < max(_FEWEST_VERSIONS, len(paragraph) / 2):
            yield from paragraph


def _imported_names(text: str) -> dict[str, str]:
    """Return the modules of names that an example imports, by name."""
    modules: dict[str, str] = {}
    for match in _IMPORTED.finditer(text):
        for imported in match["names"].split(","):
            name, _, alias = imported.strip().partition(" as ")
            if name:
                module = match["source"] or name
                modules[alias.strip() or name.partition(".")[0]] = module
    return modules


def _quoted_terms(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the terms of quoted code and messages.

    There is a tuple for each quoted line, of whole words only. Places, marks and values are left out, and lines that
    the reporter typed.
    """
    quotes: dict[tuple[str, ...], None] = {}
    for line, is_fenced in with_fences(text.split("\n")):
        is_quoted = is_fenced or line.startswith("    ") or _STATEMENT.match(line)
        if not is_quoted or _TYPED.match(line) or len(_SIGN.findall(line)) < _FEWEST_SIGNS:
            continue
        words = _IDENTIFIER.findall(_VALUE.sub(" ", _TRACED.sub("", line, count=1)))
        terms = [term_list(word)[:1] for word in words]  # without the terms of parts
        quotes[tuple(dict.fromkeys(chain.from_iterable(terms)))] = None
    return tuple(islice(quotes, _MOST_QUOTES))
