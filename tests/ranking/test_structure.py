"""Ranking without a question."""

from aggregate.ranking import Question, rank
from tests.fakes.corpus import FakeCorpus
from tests.ranking.asking import by_number, project


def test_what_is_used_most_comes_first() -> None:
    """Used source comes first, then other source, tests and documents (rule T-3)."""
    corpus = project()
    ranking = rank(corpus, Question())
    paths = [corpus.files[ranked.file].path for ranked in ranking.files]
    assert set(paths[:2]) == {"src/router.py", "src/routes.py"}
    assert paths[2] == "src/session.py"
    reasons = ranking.files[0].reasons
    assert (reasons[0].kind, reasons[0].matched) == ("used by others", "used by 1 file")


def test_definitions_that_are_used_come_first_in_their_file() -> None:
    """Pieces of used definitions are likelier within a file (rule T-3)."""
    corpus = FakeCorpus(
        {
            "a.py": "def alone():\n    x = 1\n    return x\n\n\ndef wanted():\n    x = 1\n    return x\n",
            "b.py": "from a import wanted\n\nwanted()\n",
        }
    )
    pieces = by_number(rank(corpus, Question()))[0].pieces
    assert pieces[1] > pieces[0]


def test_a_file_of_many_pieces_is_no_likelier_for_it() -> None:
    """Size does not matter without a question (rule T-3)."""
    corpus = FakeCorpus({"a.py": "x = 1\n", "b.py": "x = 1\n\n" * 400})
    ranking = rank(corpus, Question())
    assert [ranked.file for ranked in ranking.files] == [0, 1]
    assert abs(ranking.files[0].score - ranking.files[1].score) < 1e-9


def uses(corpus: FakeCorpus) -> dict[str, str]:
    return {
        corpus.files[ranked.file].path: reason.matched
        for ranked in rank(corpus, Question()).files
        for reason in ranked.reasons
        if reason.kind == "used by others"
    }


def test_a_use_counts_for_the_definition_that_it_means() -> None:
    """Only imports and unambiguous references count as use."""
    calls = "import socket\n\ndef run(sock):\n    sock.close()\n    socket.create()\n"
    corpus = FakeCorpus(
        {
            "base.py": "def close():\n    return 1\n\n\ndef create():\n    return 2\n",
            "user.py": "from base import close\n\nclose()\n",
            **{f"other{number}.py": calls for number in range(20)},
        }
    )
    assert uses(corpus) == {"base.py": "used by 1 file"}


def test_a_use_of_a_sole_name_counts_where_no_import_is_needed() -> None:
    """Without imports of names a unique definition is used, an ambiguous one is not."""
    corpus = FakeCorpus(
        {
            "a.c": "int area(int x) { return x; }\nint twice(int x) { return x; }\n",
            "b.c": "int twice(int x) { return 2 * x; }\n",
            "c/c.c": "int main(void) { return area(twice(1)); }\n",
        }
    )
    assert uses(corpus) == {"a.c": "used by 1 file"}


def test_an_overview_reads_first_how_to_work_on_the_project() -> None:
    """A guide's sections on building and testing go before others; projects of many languages have theirs (rule T-12)."""
    filler = "The history of the ferry and its crew.\n" * 40
    guide = f"# Guide\n\n## History\n\n{filler}\n## Running the tests\n\nType make.\n"
    files = {
        "CONTRIBUTING.md": guide,
        "App/App.csproj": "<Project/>\n",
        "App/Program.cs": "class A {}\n",
    }
    corpus = FakeCorpus({**files, "appveyor.yml": "build: off\n", "gradlew": "#!/bin/sh\n"})
    ranking = rank(corpus, Question(is_overview=True))
    introduced = {corpus.files[file].path for file in ranking.companions}
    assert introduced == {*files, "appveyor.yml"}
    (pieces,) = (ranked.pieces for ranked in ranking.files if ranked.file == 0)
    sections = corpus.analyses([0])[0].pieces
    tests = max(range(len(sections)), key=lambda number: sections[number].first)
    assert pieces[tests] > pieces[tests - 1]


def test_a_short_entry_point_is_whole_before_others_go_on() -> None:
    """All parts of what starts a program are as likely, up to 8,000 characters; a longer file begins first (rule T-12)."""
    command = "def command_{n}(arguments):\n    first = arguments\n    return first\n\n\n"
    for number, is_whole in ((40, True), (200, False)):
        text = "".join(command.format(n=n) for n in range(number))
        ranking = rank(FakeCorpus({"cli.py": text}), Question(is_overview=True))
        (pieces,) = (ranked.pieces for ranked in ranking.files)
        assert (max(pieces) - min(pieces) < 1e-9) is is_whole
