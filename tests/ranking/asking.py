"""Questions to small corpora, and their evidence in comparable form."""

from collections.abc import Mapping, Sequence

from aggregate.ranking import (
    ChangedLines,
    Commit,
    Evidence,
    Question,
    RankedFile,
    Ranking,
    message_words,
    read_task,
)
from aggregate.ranking.inquiry import Candidates, Inquiry
from tests.fakes.corpus import FakeCorpus

ROUTER = """\
    from routes import find_route


    class Router:
        def match(self, path):
            checked = path
            return find_route(checked)

        def register(self, route):
            self.routes.append(route)
            return self
"""
ROUTES = """\
    def find_route(path):
        for segment in path:
            if segment:
                return segment
"""
SESSION = """\
    class Session:
        def send(self, request):
            self.count += 1
            return request

        def close(self):
            self.count = 0
            return None

        def short(self):
            return self.count
"""
TEST_ROUTER = """\
    from router import Router


    def test_match():
        router = Router()
        assert router.match("x")
"""
README = """\
    # Routing

    How to match a path with the router.
"""
PROJECT: Mapping[str, str] = {
    "src/router.py": ROUTER,
    "src/routes.py": ROUTES,
    "src/session.py": SESSION,
    "tests/test_router.py": TEST_ROUTER,
    "README.md": README,
}


def by_number(ranking: Ranking) -> Mapping[int, RankedFile]:
    """Return a ranking's files by corpus number."""
    return {ranked.file: ranked for ranked in ranking.files}


def project() -> FakeCorpus:
    """Return a project with a router, its session, a test and a page."""
    return FakeCorpus(PROJECT)


def commit(message: str, *paths: str, names: Sequence[tuple[str, str]] = ()) -> Commit:
    """Return a commit."""
    terms, words = message_words(message)
    return Commit(terms, paths, tuple(names), words)


def ask(
    text: str = "",
    *,
    focus: Sequence[tuple[str, int, int]] = (),
    symbols: Sequence[str] = (),
    changes: Sequence[ChangedLines] = (),
    commits: Sequence[Commit] = (),
) -> Question:
    """Return a question with a parsed text."""
    return Question(read_task(text), focus, symbols, changes, commits)


def inquiry(corpus: FakeCorpus, question: Question) -> tuple[Inquiry, Candidates]:
    """Ask a corpus whose files are all candidates."""
    put = Inquiry.of(corpus, question)
    return put, put.load(range(len(corpus.files)))


def by_path(corpus: FakeCorpus, evidence: Evidence) -> Mapping[str, float]:
    """Return an evidence's rounded file values by path."""
    return {corpus.files[file].path: round(value, 3) for file, value in evidence.files.items()}


def by_definition(corpus: FakeCorpus, evidence: Evidence) -> Mapping[str, float]:
    """Return the greatest rounded piece value by ``path:Class.name``."""
    values: dict[str, float] = {}
    for (file, place), value in evidence.pieces.items():
        analysis = corpus.analyses([file])[0]
        definition = analysis.pieces[place].definition
        name = ".".join(analysis.definitions[definition].path) if definition >= 0 else ""
        key = f"{corpus.files[file].path}:{name}"
        values[key] = max(values.get(key, 0.0), round(value, 3))
    return values


def matched(corpus: FakeCorpus, evidence: Evidence) -> Mapping[str, str]:
    """Return matched words by path."""
    return {corpus.files[file].path: text for file, text in evidence.matched.items()}
