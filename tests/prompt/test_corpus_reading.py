"""The corpus of a project: the same whatever the index knows, and after an edit only what changed is made anew."""

import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aggregate import open_project, request_for
from aggregate.prompt.asking import Request
from aggregate.prompt.corpus import FileCorpus, read_files
from aggregate.ranking import terms_in
from tests.base.redaction.samples import PLANTED
from tests.projects import project
from tests.prompt.composing import in_index, kept_nothing
from tests.prompt.test_stream import FILES, made

NAMES = ("one", "Two", "f", "three", "absent", "os", "g")


def corpus_of(request: Request, index: Any) -> tuple[FileCorpus, Any]:
    corpus = read_files(request, index=index)
    return corpus, corpus.notes


def told(request: Request, index: Any) -> dict[str, object]:
    corpus, reader = corpus_of(request, index)
    numbers = range(len(corpus.files))
    texts = [corpus.text(number) for number in numbers]
    terms = [*sorted(terms_in(" ".join(texts))), "absent"]
    analyses = corpus.analyses(numbers, with_references=True)
    answer: dict[str, object] = {
        "files": list(corpus.files),
        "texts": texts,
        "terms": {term: dict(corpus.files_with(term)) for term in terms},
        "defining": {name: list(corpus.files_defining(name)) for name in NAMES},
        "naming": {name: list(corpus.files_naming(name)) for name in NAMES},
        "definitions": [list(each.definitions) for each in analyses],
        "pieces": [list(each.pieces) for each in analyses],
        "references": [list(each.references) for each in analyses],
        "hashes": [corpus.content_hash(number) for number in numbers],
        "shown": [corpus.shown[number] for number in numbers],
        "others": [*corpus.others],
        "remarks": [*corpus.remarks],
        "notes": reader.warnings((), [file.path for file in corpus.files]),
    }
    index.flush()
    return answer


@pytest.mark.parametrize("redact", [False, True])
def test_the_index_changes_nothing_of_a_corpus(*, redact: bool, tmp_path: Path) -> None:
    """Without an index, with an empty one and with all known the corpus and its notes are the same (rule I-2)."""
    files = {**FILES, "key.py": PLANTED[0].content, "uv.lock": "version = 1\n", "d/x.min.js": "f()"}
    files["d/long.txt"] = "retry of lines\n" * 20_000
    # What marks a file as generated need not stand in its text, and its size is told all the same.
    files |= {".gitattributes": "marked.py linguist-generated\n", "d/marked.py": "MARKED = 'é'\n"}
    folder = project(tmp_path / "p", files)
    request = made(folder, "skeleton", redact=redact)
    (folder / "odd.txt").write_bytes(b"\xff\xc3 odd \xc3")
    without = told(request, kept_nothing())
    later = in_index(tmp_path)
    for index in (later, later, in_index(tmp_path)):
        assert told(request, index) == without
    # What another run knows of a file with a secret is not taken for it where that is replaced.
    told(made(folder, "skeleton", redact=not redact), later)
    assert told(request, later) == without


def test_references_are_looked_for_once_they_are_asked_for(tmp_path: Path) -> None:
    """A question that needs none leaves them out, and changes nothing for the next one, here or later (rule I-2)."""
    request = made(project(tmp_path / "p", FILES), "skeleton")
    index = in_index(tmp_path)
    corpus, _ = corpus_of(request, index)
    numbers = range(len(corpus.files))
    assert not all(each.has_references for each in corpus.analyses(numbers))
    index.flush()
    whole = [each.pack() for each in corpus.analyses(numbers, with_references=True)]
    fresh, _ = corpus_of(request, kept_nothing())
    assert whole == [each.pack() for each in fresh.analyses(numbers, with_references=True)]
    later, _ = corpus_of(request, in_index(tmp_path))
    assert whole == [each.pack() for each in later.analyses(numbers, with_references=True)]


def test_an_unchanged_file_with_a_secret_is_not_read(tmp_path: Path) -> None:
    """Its words are known whoever replaces the secret, and all that is shown of it is without (rule I-5)."""
    folder = project(tmp_path / "p", {"key.py": PLANTED[0].content})
    index = in_index(tmp_path)
    read: list[int] = []
    for redact in (True, True, False, False, True):
        config = {"files": {"base_dir": str(folder), "paths": ["*.py"]}}
        request = request_for(open_project(config), redact=redact)
        corpus = read_files(request, index=index, on_start=read.append)
        index.flush()
        assert PLANTED[0].content not in str(corpus.analyses([0])[0].definitions)
        assert (corpus.text(0) == PLANTED[0].content) is not redact
    assert [count > 0 for count in read] == [True, False, False, False, False]


def test_a_file_has_the_terms_that_a_look_into_it_finds(tmp_path: Path) -> None:
    """Each term of each text leads to its file, with its number there (rule T-4)."""
    request = made(project(tmp_path / "p", FILES), "skeleton")
    corpus, _ = corpus_of(request, in_index(tmp_path))
    counts = [terms_in(corpus.text(number)) for number in range(len(corpus.files))]
    for term in {term for count in counts for term in count}:
        found = dict(corpus.files_with(term))
        assert found == {
            number: count[term] for number, count in enumerate(counts) if term in count
        }
    paths = [file.path for file in corpus.files]
    assert [paths[number] for number in corpus.files_defining("three")] == ["script"]


def test_what_cannot_be_read_stands_beside_the_corpus(tmp_path: Path) -> None:
    """A missing file is told of, and a glob's binary ones in a remark, also where both are known (rule T-6)."""
    request = made(project(tmp_path / "p", FILES), "skeleton")
    index = in_index(tmp_path)
    for _ in range(2):
        corpus, _ = corpus_of(request, index)
        index.flush()
        assert "gone.py" in {other.path for other in corpus.others}
        remarks = {remark.path: remark.problem for remark in corpus.remarks}
        assert "image.png" in remarks["**/*"]
        assert "image.png" not in {file.path for file in corpus.files}


def large(folder: Path, count: int) -> Request:
    files = {
        f"src/{number:03}.py": f"def name{number}():\n    return retry{number}(common)\n"
        for number in range(count)
    }
    return made(project(folder, files), "skeleton")


def test_an_edit_reads_what_was_edited(tmp_path: Path) -> None:
    """What did not change is neither read nor looked at again, also where others come, go and move (rule I-6)."""
    large(tmp_path / "p", 400)
    files = {"base_dir": str(tmp_path / "p"), "paths": ["src/*.py"]}
    request = request_for(open_project({"files": files}))
    index = in_index(tmp_path)
    read: list[int] = []
    made: list[int] = []

    def files_with_common() -> int:
        corpus = read_files(request, index=index, on_start=read.append)
        index.flush()
        made.append(corpus.new_tables)
        return len(corpus.files_with("common"))

    folder = tmp_path / "p/src"
    assert files_with_common() == files_with_common() == 400
    (folder / "200.py").write_text("def other():\n    pass\n")
    assert files_with_common() == 399
    (folder / "200_new.py").write_text("def common():\n    pass\n")
    assert files_with_common() == 400
    (folder / "300.py").unlink()
    assert files_with_common() == 399
    (folder / "100.py").rename(folder / "100_moved.py")
    assert files_with_common() == 399
    assert read == [400, 0, 1, 1, 0, 1]
    assert 2 <= made[0] <= 20
    assert made[1:] == [0, 1, 1, 0, 1]


def test_a_group_of_which_much_changes_is_made_anew(tmp_path: Path) -> None:
    """Many small edits end in a new large table, and whatever is changed back is known (rules I-2 and I-6)."""
    request = large(tmp_path / "p", 30)
    index = in_index(tmp_path)
    first = told(request, index)
    path = tmp_path / "p/src/000.py"
    before = path.read_bytes()
    for number in range(12):
        name = tmp_path / f"p/src/{number:03}.py"
        name.write_text(f"def other{number}():\n    return common\n")
        assert told(request, index) == told(request, kept_nothing())
    path.write_bytes(before)
    assert told(request, index) == told(request, kept_nothing())
    assert told(large(tmp_path / "p", 30), index) == first


def test_random_edits_leave_what_a_fresh_look_finds(tmp_path: Path) -> None:
    """After any edits the corpus that is updated and one that is made anew are the same (rules I-2 and I-6)."""
    chance = random.Random(3)
    folder = tmp_path / "p"
    request = large(folder, 80)
    index = in_index(tmp_path)
    told(request, index)
    for _ in range(2):
        for number in chance.sample(range(80), 8):
            path = folder / f"src/{number:03}.py"
            what = chance.choice(["edit", "swap", "remove", "binary"])
            if what == "remove":
                path.unlink(missing_ok=True)
            elif what == "swap":
                path.write_text(f"def name{number}():\n    return retry{number}(other0)\n")
            else:
                path.write_bytes(
                    b"\0" if what == "binary" else b"class Two:\n    one = os\n" * number
                )
        assert told(request, index) == told(request, kept_nothing())


def test_tables_that_the_index_lost_are_made_again(tmp_path: Path) -> None:
    """Of a group whose files are known unchanged the tables may be gone, all or those of terms (rule I-2)."""
    request = large(tmp_path / "p", 80)
    expected = told(request, kept_nothing())
    for lost in ("name group", "term group"):
        told(request, in_index(tmp_path))
        with closing(sqlite3.connect(tmp_path / "index" / "i.sqlite")) as connection, connection:
            gone = "DELETE FROM entries WHERE kind IN (SELECT number FROM kinds WHERE name LIKE ?)"
            assert connection.execute(gone, (f"{lost}%",)).rowcount
        assert told(request, in_index(tmp_path)) == expected


def test_what_the_index_lost_is_made_again(tmp_path: Path) -> None:
    """An index that forgets between opening and asking, and a file that changes then, end nothing (rule I-2)."""
    folder = tmp_path / "p"
    request = large(folder, 5)
    index = in_index(tmp_path)
    told(request, index)
    corpus, _ = corpus_of(request, index)
    index.close()
    (tmp_path / "index" / "i.sqlite").rename(tmp_path / "index" / "away")
    (folder / "src/001.py").write_text("class Changed:\n    pass\n")
    (folder / "src/002.py").unlink()
    paths = [file.path for file in corpus.files]
    changed, gone, kept = (paths.index(f"src/00{number}.py") for number in (1, 2, 3))
    analyses = corpus.analyses([changed, gone, kept])
    names = [[each.path for each in analysis.definitions] for analysis in analyses]
    assert names == [[("Changed",)], [], [("name3",)]]
    assert corpus.text(changed) == "class Changed:\n    pass\n"
    assert corpus.text(gone) == ""
