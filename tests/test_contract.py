"""docs/contract.md: every rule that is cited stands there, and every rule that stands there is cited."""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

PAGE = Path("docs/contract.md")
RULE = re.compile(r"(?<![\w-])(?:[A-Z]-X?\d+|P\d{1,2})(?![\w-])")
"""``M-5``, ``R-X3``, ``P12``; not ``UTF-8`` and ``SHA-256``, which have more letters."""
ENTRY = re.compile(r'^- <a id="([^"]*)"></a>\*\*([^*]*)\*\* \S', re.MULTILINE)
CODE = re.compile(r"```.*?```|``.*?``|`[^`\n]*`", re.DOTALL)
"""What is quoted is no citation: the priority of a bead is ``P2`` too."""
BY_NUMBER = re.compile(r"\b(?:rules?|section)\s+\d+(?:\.\d+)?\b")
TEST = re.compile(r"^(?:    )?(?:async )?def (?=test_)", re.MULTILINE)
STANDARD = re.compile(r"(?:CommonMark|RFC) [\d.]+, section [\d.]+")


def citations(text: str) -> list[str]:
    """Return the rules that prose cites, in order."""
    return RULE.findall(CODE.sub(" ", text))


def remarks(source: str) -> Iterator[str]:
    """Yield the docstrings, the comments and the texts below constants of a Python file."""
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node.value.value
    if any(
        "#" in line and (RULE.search(line) or BY_NUMBER.search(line))
        for line in source.splitlines()
    ):
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        yield from (token.string for token in tokens if token.type == tokenize.COMMENT)


@cache
def cited_in(folder: str) -> dict[str, str]:
    """Return the rules that a folder's Python files cite, each with one file that does."""
    found: dict[str, str] = {}
    for path in sorted(Path(folder).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if RULE.search(source):
            found |= dict.fromkeys(chain.from_iterable(map(citations, remarks(source))), str(path))
    return found


def stated() -> Counter[str]:
    """Return the rules of the page, and how often each stands there."""
    return Counter(rule for _, rule in ENTRY.findall(PAGE.read_text(encoding="utf-8")))


def test_every_rule_that_code_cites_is_stated() -> None:
    """No docstring and no comment cites a rule that docs/contract.md does not state, and a test claims each that it does."""
    rules = stated()
    for folder in ("src", "tests", "simulation"):
        assert {rule: path for rule, path in cited_in(folder).items() if rule not in rules} == {}
    assert [rule for rule in rules if rule not in cited_in("tests")] == []


def test_every_rule_that_a_page_cites_is_stated() -> None:
    """No other page, and no other rule, cites a rule that docs/contract.md does not state."""
    pages = [*Path("docs").rglob("*.md"), *Path().glob("*.md"), *Path("conductor").rglob("*.md")]
    named = {
        rule: page.name for page in pages for rule in citations(page.read_text(encoding="utf-8"))
    }
    assert PAGE.name in named.values()
    assert {rule: page for rule, page in named.items() if rule not in stated()} == {}


def test_every_rule_stands_once_under_its_anchor() -> None:
    """Each item of a list of rules has its id in lower case as anchor, no id twice; links within lead to one."""
    text = PAGE.read_text(encoding="utf-8")
    assert [
        (anchor, rule)
        for anchor, rule in ENTRY.findall(text)
        if anchor != rule.lower() or not RULE.fullmatch(rule)
    ] == []
    assert [rule for rule, times in stated().items() if times > 1] == []
    assert len(stated()) == sum(line.startswith("- ") for line in text.splitlines())
    headings = {
        re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.*)", text, re.M)
    }
    anchors = {rule.lower() for rule in stated()} | headings
    assert [target for target in re.findall(r"\]\(#([^)]*)\)", text) if target not in anchors] == []


def test_no_rule_is_cited_by_the_number_of_a_section() -> None:
    """A citation can be looked up here: numbers of sections, but for those of a standard, name nothing."""
    cited: dict[str, str] = {}
    for path in chain.from_iterable(
        Path(folder).rglob("*.py") for folder in ("src", "tests", "simulation")
    ):
        source = path.read_text(encoding="utf-8")
        if BY_NUMBER.search(source):
            told = STANDARD.sub("", "\n".join(remarks(source)))
            cited |= {number: str(path) for number in BY_NUMBER.findall(told)}
    assert cited == {}


def test_what_is_a_citation() -> None:
    """Ids count in prose; encodings, hashes, other projects' ids and what is quoted in code do not."""
    told = "M-5, (R-X3; P12): UTF-8 and SHA-256, CVE-2024-1, FR-006, `- ready, P2 task`, ``O-1``, M-X5.\n```\nD-9\n```"
    assert citations(told) == ["M-5", "R-X3", "P12", "M-X5"]
    source = '"""Rule D-1."""\nA = "D-2"  # D-3\n"""The text below A (D-4)."""\nB = "# D-5"\n'
    assert [rule for remark in remarks(source) for rule in citations(remark)] == [
        "D-1",
        "D-4",
        "D-3",
    ]


def test_each_test_states_its_claim() -> None:
    """The first line of a test says what holds, whatever helpers beside it leave to their names."""
    silent = [
        f"{path}::{test.partition('(')[0]}"
        for path in Path("tests").rglob("test_*.py")
        for test in TEST.split(path.read_text(encoding="utf-8"))[1:]
        if not test.partition(") -> None:\n")[2].lstrip().startswith(('"""', 'r"""'))
    ]
    assert silent == []
