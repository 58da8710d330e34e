"""Read the text of a reported issue without its form, environment and versions."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, groupby, islice
from typing import Final

from aggregate.base.text import heading_level, with_fences
from aggregate.ranking.terms import term_list

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
_VERSION: Final = re.compile(
    r"[ \t>*|-]*[A-Za-z[][\w./()@+ \[-]{0,60}?[ \t:=|]++(?:\(?v?\d+\.\d+\.\d+.{0,100}|None)"
)
_FEWEST_VERSIONS: Final = 3  # lines of a paragraph about the installed software

_WORD: Final = re.compile(r"[^\W\d]\w*")
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


def report_text(text: str) -> str:
    """Return the text of an issue without the form, the environment and tables of versions."""
    return "\n".join(_without_versions(_without_form(text.split("\n"))))


def _without_form(lines: Sequence[str]) -> Iterator[str]:
    is_begun = is_environment = False
    for line, is_code in with_fences(lines):
        if not is_code and heading_level(line):
            title = " ".join(_WORD.findall(line.lower()))
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
        versions = sum(1 for line in paragraph if _VERSION.fullmatch(line))
        if is_blank or versions < max(_FEWEST_VERSIONS, len(paragraph) / 2):
            yield from paragraph


def imported_names(text: str) -> dict[str, str]:
    """Return the modules of names that an example imports, by name."""
    modules: dict[str, str] = {}
    for match in _IMPORTED.finditer(text):
        for imported in match["names"].split(","):
            name, _, alias = imported.strip().partition(" as ")
            if name:
                module = match["source"] or name
                modules[alias.strip() or name.partition(".")[0]] = module
    return modules


def quoted_terms(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the terms of quoted code and messages.

    There is a tuple for each quoted line, of whole words only. Places, marks and values are left out, and lines that
    the reporter typed.
    """
    quotes: dict[tuple[str, ...], None] = {}
    for line, is_fenced in with_fences(text.split("\n")):
        is_quoted = is_fenced or line.startswith("    ") or _STATEMENT.match(line)
        if not is_quoted or _TYPED.match(line) or len(_SIGN.findall(line)) < _FEWEST_SIGNS:
            continue
        words = _WORD.findall(_VALUE.sub(" ", _TRACED.sub("", line, count=1)))
        terms = [term_list(word)[:1] for word in words]  # without the terms of parts
        quotes[tuple(dict.fromkeys(chain.from_iterable(terms)))] = None
    return tuple(islice(quotes, _MOST_QUOTES))
