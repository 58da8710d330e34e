"""Reading of reported issues."""

import pytest

from aggregate.base import Missing
from aggregate.ranking import named_files, read_task
from aggregate.ranking.guess import spelt, without_foreign_names
from aggregate.ranking.mentions import traced_pieces
from tests.fakes.corpus import FakeCorpus
from tests.ranking.asking import PROJECT, ask, by_definition, by_path, inquiry

ISSUE = """\
Bug: the cart loses its lantern
### Bug description

It is dark.

**Steps to reproduce**

```python
import numpy as np
from shop import Cart

Cart()
```

- [x] I have searched the tracker

#### OS / Environment

- Debian with an abacus

#### Shop version

4.2.1 of the barometer

### More

cutlery 1.13.0
spoon: 0.13.1
fork==8.0.2

The moon is out.
"""


def test_an_issue_is_read_without_its_form() -> None:
    """Headings of a form, the environment and versions are ignored (rule T-2)."""
    task = read_task(ISSUE)
    assert task.subject == ("cart", "los", "lantern")
    assert {"dark", "shop", "lantern", "moon"} <= task.terms.keys()
    ignored = {"descript", "step", "reproduc", "search", "abacu", "baromet", "spoon"}
    assert not ignored & task.terms.keys()
    assert task.names["Cart"] == 1.0


def test_a_title_about_the_environment_is_kept() -> None:
    """The first line and prose about an environment or a version are part of a task (rule T-2)."""
    task = read_task(
        "# Environment\n\nThe version of the lantern is wrong.\n\n## Versions\n\n1.2.3\n"
    )
    assert task.terms.keys() == {"environment", "version", "lantern", "wrong"}


def test_names_of_other_packages_point_at_nothing() -> None:
    """Names that an example imports from another package are not names of the project (rule T-2)."""
    text = (
        "Send fails\n\n    import numpy as np\n    import session as s\n    np.Router(s.Session)\n"
    )
    put, _ = inquiry(FakeCorpus(PROJECT), ask(text))
    names = without_foreign_names(put).task.names
    assert "Session" in names
    assert not {"np.Router", "Router", "s.Session"} & names.keys()


def test_the_project_is_not_a_class() -> None:
    """The project's own name in a sentence is a plain word (rule T-2)."""
    put, _ = inquiry(FakeCorpus({"router/core.py": "x = 1\n"}), ask("The matching of Router fails"))
    assert without_foreign_names(put).task.names["Router"] < 1


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("`find_route(path)` is slow", "src/routes.py"),
        ("Session drops requests", ""),
        ("Wrong results of short()", "src/session.py"),
    ],
)
def test_code_in_the_first_line_points_at_its_file(text: str, path: str) -> None:
    """A definition that the first line names as code stands for its file (rule T-2)."""
    corpus = FakeCorpus(PROJECT)
    put, _ = inquiry(corpus, ask(text))
    assert list(by_path(corpus, named_files(put))) == ([path] if path else [])


def test_a_quoted_line_is_a_place() -> None:
    """Code of a source that the task quotes is a location, whatever stands before it (rule T-2)."""
    corpus = FakeCorpus(PROJECT)
    put, candidates = inquiry(
        corpus, ask("It hangs\n\n    ----> 3     self.routes.append(route)\n")
    )
    assert not by_definition(corpus, traced_pieces(put, candidates))
    quote = "It hangs\n\n```\n--> 12 def match(self, path): checked = path\n```\n"
    put, candidates = inquiry(corpus, ask(quote))
    assert by_definition(corpus, traced_pieces(put, candidates)) == {
        "src/router.py:Router.match": 0.5
    }


def test_frames_of_ipython_end_with_the_fault() -> None:
    """IPython's frames are read, the last one first (rule T-2)."""
    text = (
        "It fails\n\n~/lib/src/session.py in send(self, request)\n      2\n----> 3 x\n\n"
        "File ~/lib/src/router.py:7, in Router.register(self, route)\n      6\n----> 7 y\n\n"
    )
    corpus = FakeCorpus(PROJECT)
    put, candidates = inquiry(corpus, ask(text))
    assert [location[:2] for location in put.question.task.locations] == [
        ("~/lib/src/router.py", 7),
        ("~/lib/src/session.py", 0),
    ]
    values = by_definition(corpus, traced_pieces(put, candidates))
    assert values["src/router.py:Router.register"] == 1.0
    assert values["src/session.py:Session.send"] == 0.6


def test_a_misspelt_word_of_the_first_line_finds_its_file() -> None:
    """An unknown word of the first line near a file's name is corrected, with a notice (rule T-9)."""
    put, _ = inquiry(
        FakeCorpus({"src/mathematica.py": "x = 1\n"}), ask("the matematica printer fails")
    )
    corrected = spelt(put)
    assert "mathematica" in corrected.task.subject
    assert corrected.missing == (
        Missing("spelling", "matematica occurs nowhere, using mathematica instead"),
    )
