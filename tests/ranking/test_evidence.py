"""Value and reason of each kind of evidence alone."""

from collections.abc import Mapping

import pytest

from aggregate.ranking import ChangedLines, Question, changed_together, rank, sole_definitions
from tests.fakes.corpus import FakeCorpus
from tests.ranking.asking import PROJECT, ask, by_path, commit, inquiry, matched, project

Told = Mapping[str, tuple[float, str]]
ROUTER, ROUTES, SESSION, TEST, README = PROJECT

HISTORY = (
    commit("Reformat", "src/session.py"),
    commit(
        "Match routes with wildcards",
        "src/router.py",
        "src/routes.py",
        names=[("src/router.py", "match"), ("src/routes.py", "find_route")],
    ),
    commit("Match hosts", "src/router.py", "src/routes.py", "gone.py"),
    commit("Close sessions", "src/session.py", names=[("src/session.py", "Session.close")]),
)
FIXES = [commit(f"Fix {name}", "src/session.py") for name in ("hosts", "paths", "ports")]
NEAR = [commit("Match wildcards", ROUTER), commit("Match hosts", ROUTES), commit("Close", SESSION)]
RELEASES = [commit("Match hosts", "src/router.py"), commit("Release 1.4.0\n\nThe router matches.", "src/session.py")]  # fmt: skip
MANY = [commit("Match wildcards", "src/router.py", *(f"f{number}" for number in range(30)))]
TRACEBACK = """\
The router fails.

Traceback (most recent call last):
  File "/home/me/work/app/src/router.py", line 7, in match
    return find_route(path)
  File "/home/me/work/app/src/routes.py", line 4, in find_route
    if segment:
  File "/usr/lib/python3.11/json/decoder.py", line 355, in raw_decode
TypeError: bad segment
"""
FRAME = '  File "{}", line 3, in close\n'


def told(texts: Mapping[str, str], kind: str, question: Question) -> Told:
    """Return one evidence's values by path."""
    corpus = FakeCorpus(texts)
    return {
        corpus.files[ranked.file].path: (round(reason.weight, 2), reason.matched)
        for ranked in rank(corpus, question, weights={kind: 1.0}).files
        for reason in ranked.reasons
        if reason.kind == kind
    }


@pytest.mark.parametrize(
    ("kind", "question", "expected"),
    [
        # Words: rare ones count more, the best file has 1, and only the first line counts as the subject.
        ("file text", ask("segment of a path"), {ROUTES: (1.0, "segment, path"), ROUTER: (0.23, "path"), README: (0.2, "path")}),
        ("subject", ask("close the session\n\nFound while a route was registered."), {SESSION: (1.0, "session")}),
        # Names: what the line is about counts more than the circumstances, and endings make no difference.
        ("words of the name", ask("how matching paths works in the router"),
         {ROUTER: (1.0, "Router.match"), TEST: (0.66, "test_match"), README: (0.04, "Routing"), ROUTES: (0.03, "find_route")}),
        ("words of the file's name", ask("how routing works"),
         {ROUTER: (1.0, "router"), ROUTES: (1.0, "routes"), TEST: (0.53, "test_router")}),
        ("words of the file's name", ask("fix routing"),
         {ROUTER: (0.2, "router"), ROUTES: (0.2, "routes"), TEST: (0.11, "test_router")}),
        ("all of the task", ask("find_route"), {ROUTES: (1.0, "find_route")}),
        ("all of the task", ask("`Router.match()`"), {ROUTER: (1.0, "Router.match")}),
        ("all of the task", ask("routes"), {ROUTES: (1.0, "routes")}),
        ("all of the task", ask("find_route fails"), {}),
        ("file text", ask("修复解析器中的错误, die Leitung bricht ab"), {}),
        # What is named outright.
        ("file named in the first line", ask("session.py leaks"), {SESSION: (1.0, "session.py")}),
        ("file named in the first line", ask("src.session leaks"), {SESSION: (1.0, "session.py")}),
        ("named in the task", ask("`find_route` returns too early"), {ROUTES: (1.0, "find_route")}),
        ("identifier used", ask("`find_route` returns too early"), {ROUTER: (1.0, "find_route"), ROUTES: (1.0, "find_route")}),
        ("place in the task", ask(TRACEBACK), {ROUTES: (1.25, "src/routes.py:4"), ROUTER: (0.75, "src/router.py:7")}),
        ("place in the task", ask("fails\n" + FRAME.format("src/session.py")), {SESSION: (1.25, "src/session.py:3")}),
        ("place in the task", ask("fails\n" + FRAME.format("/usr/lib/python3/http/session.py")), {}),
        ("place in the task", ask("it leaks\n\nsee src/session.py."), {SESSION: (0.25, "src/session.py")}),
        ("place in the task", ask("it leaks\n\nsee lib/other.py"), {}),
        # The history: similar changes, whatever kind of file they touched; without one nothing is said.
        ("similar changes", ask("match wildcards", commits=HISTORY),
         {ROUTER: (1.0, "2 similar changes"), ROUTES: (1.0, "2 similar changes")}),
        ("similar changes", ask("Release v1.5.0-rc.1", commits=RELEASES), {SESSION: (1.0, "1 similar change")}),
        ("similar changes", ask("fix the overflow of counters", commits=FIXES), {SESSION: (0.18, "3 similar changes")}),
        ("similar changes", ask("match wildcards", commits=NEAR), {ROUTER: (1.0, "1 similar change"), ROUTES: (0.1, "1 similar change")}),
        ("similar changes", ask("match wildcards"), {}),
        ("definitions of similar changes", ask("close the sessions", commits=HISTORY), {SESSION: (1.0, "Session.close")}),
        ("recently changed definitions", ask("match wildcards", commits=HISTORY),
         {ROUTER: (1.0, "match"), ROUTES: (1.0, "find_route"), SESSION: (0.84, "Session.close")}),
        ("messages of changes", ask("hosts", commits=HISTORY), {ROUTER: (1.0, "hosts"), ROUTES: (1.0, "hosts")}),
        ("messages of changes", ask("wildcards", commits=MANY), {}),  # a change of many files speaks of none
        ("last change", ask("where wildcards match", commits=HISTORY), {}),
        ("last change", ask("fix the match of wildcards", commits=HISTORY),
         {SESSION: (1.0, "1 change ago"), ROUTER: (0.63, "2 changes ago"), ROUTES: (0.63, "2 changes ago")}),
        # Seeds: lines, files, symbols in any notation, and what has changed.
        ("focus", ask(focus=[(SESSION, 7, 7), (ROUTES, 0, 0)]), {SESSION: (1.0, "src/session.py:7"), ROUTES: (1.0, ROUTES)}),
        ("symbol", ask(symbols=["Session"]), {SESSION: (1.0, "Session")}),
        ("symbol", ask(symbols=["short"]), {SESSION: (1.0, "short")}),
        ("symbol", ask(symbols=["app.web.Session.close()"]), {SESSION: (1.0, "app.web.Session.close()")}),
        ("symbol", ask(symbols=["Session#close"]), {SESSION: (1.0, "Session#close")}),
        ("symbol", ask(symbols=["Router.close"]), {}),
        ("changed since", ask(changes=[ChangedLines(ROUTER, 6, 7), ChangedLines(README)]),
         {ROUTER: (1.0, "src/router.py:6-7"), README: (1.0, README)}),
        # What seeds refer to, and what refers to them.
        ("near a seed", ask(changes=[ChangedLines(ROUTER, 6, 7)]), {TEST: (1.3, "tests Router.match"), ROUTES: (1.0, "called by Router.match")}),
        ("near a seed", ask(focus=[(ROUTES, 0, 0)]), {ROUTER: (1.3, "imports find_route")}),
    ],
)  # fmt: skip
def test_what_an_evidence_says_of_files(kind: str, question: Question, expected: Told) -> None:
    """Each kind has its values and matched words (rules T-1, T-2, T-5 and A-1)."""
    assert told(PROJECT, kind, question) == expected


@pytest.mark.parametrize(
    ("name", "expected"), [("$Form", "core.ts"), ("Form", "forms.ts"), ("send", "send.ts")]
)
def test_what_a_lone_name_means(name: str, expected: str) -> None:
    """A task that is a name finds its definition or module (rule T-9)."""
    corpus = FakeCorpus(
        {
            "core.ts": "export interface $Form { id: string }\n",
            "forms.ts": "export interface Form { id: string }\n",
            "send.ts": "import { Form } from './forms';\nexport default (form: Form) => form.id;\n",
        }
    )
    put, candidates = inquiry(corpus, ask(name))
    assert matched(corpus, sole_definitions(put, candidates)) == {expected: name}


def test_changes_that_came_together() -> None:
    """Files count that changed at least twice with a likely file (rule T-1)."""
    corpus = project()
    put, _ = inquiry(corpus, ask("anything", commits=HISTORY))
    evidence = changed_together(put, {corpus.number(ROUTER): 1.0})
    assert by_path(corpus, evidence) == {ROUTES: 1.0}
    assert matched(corpus, evidence) == {ROUTES: f"changed together with {ROUTER} in 2 commits"}
    # Likely are the sources that the rest speaks for.
    question = ask("match a path", commits=[commit("x", ROUTER, README)] * 2)
    ranking = rank(corpus, question, weights={"file text": 1.0, "changed together": 1.0})
    reasons = {reason.kind: reason.matched for file in ranking.files for reason in file.reasons}
    assert reasons["changed together"] == f"changed together with {ROUTER} in 2 commits"


def test_names_that_several_share_tell_less() -> None:
    """A name may be a file, a method, or qualified by a class (rule T-2)."""
    files = {f"{folder}/area.py": "x = 1\n" for folder in "abcd"}
    assert {value for value, _ in told(files, "file named in the first line", ask("area.py fails")).values()} == {0.5}  # fmt: skip
    body = "class {}:\n    def match(self):\n        x = 1\n        return x\n"
    both = {"a.py": body.format("Router"), "b.py": body.format("Matcher")}
    shared = told(both, "named in the task", ask("it is `match()` that is slow"))
    assert {value for value, _ in shared.values()} == {0.71}
    own = told(both, "named in the task", ask("`Router.match` is slow"))
    assert own["a.py"][0] == 1.0 > 3 * own.get("b.py", (0.0,))[0]
    lost = rank(project(), ask(symbols=["Nobody"], focus=[("lost.py", 1, 1)])).missing
    assert {gap.reason for gap in lost} >= {
        "lost.py is not a file of the project",
        "no definition is called Nobody",
    }
