"""Parsing of task texts."""

import time

import pytest
from hypothesis import given, strategies as st

from aggregate.ranking import TaskText, read_task

TASK = """\
fix(http): `retry_loop` drops Session.send when the server closes

The Retry class should call backoff() and not sleep. See https://example.org/z and #1234,
as in tests/test_retry.py:12. Undefined: quux

> On quoting: nothing of xylophones

Signed-off-by: Ada Lovelace <ada@example.org>
Co-authored-by: Grace Hopper <grace@example.org>
Fixes: #77
"""


def test_a_message_is_read_whole() -> None:
    """A message's parts exclude trailers, links and quotations (rule T-2)."""
    task = read_task(TASK)
    assert task.text == TASK
    assert task.scopes == ("http",)
    assert task.subject[:5] == ("http", "retryloop", "retry", "loop", "drop")
    assert task.terms["retry"] == 3  # retry_loop, Retry, tests/test_retry
    gone = {"ada", "lovelac", "grac", "hopper", "signed", "1234", "xylophon", "exampl", "org"}
    assert not gone & task.terms.keys()
    assert task.locations == (("tests/test_retry.py", 12, ""),)
    sure = [name for name, certainty in task.names.items() if certainty == 1.0]
    assert sure == ["retry_loop", "Session.send", "Retry", "backoff", "quux"]
    assert task.names["server"] == 0.3
    assert "the" not in task.names
    assert "fix" not in task.names


@pytest.mark.parametrize(
    ("subject", "scopes"),
    [
        ("net/http: close idle connections", ("net", "http")),
        ("fix(router): handle it", ("router",)),
        ("feat(web-ui)!: handle it", ("web", "ui")),
        ("[parser] handle it", ("parser",)),
        ("[parser][lexer]: handle it", ("parser", "lexer")),
        ("net: phy: handle it", ("net", "phy")),
        ("docs: say it", ("doc",)),
        ("Fix: handle it", ()),
        ("Re: [parser] handle it", ("parser",)),
        ("TypeError: x is not a function", ()),
        ("Why does it fail when I say: stop?", ()),
        ("handle it", ()),
        ("", ()),
    ],
)
def test_the_scopes_of_a_subject(subject: str, scopes: tuple[str, ...]) -> None:
    """Prefixes are scopes, except words for kinds of change (rule T-2)."""
    assert read_task(subject).scopes == scopes


def test_a_compound_with_one_letter_is_a_term() -> None:
    """A word behind one letter is also searched as names write it, without the hyphen (T-2)."""
    task = read_task("K-means and e-mail, but not -x-ray, a/k-means or non-zero")
    assert [task.terms.get(term) for term in ("kmeans", "kmean", "email")] == [1, 1, 1]
    assert {"kmeans", "kmean"} < {*task.subject}
    assert not {"xray", "akmeans", "nonzero"} & task.terms.keys()


def test_the_subject_of_a_traceback_is_its_error() -> None:
    """The subject of a traceback is its error line (rule T-2)."""
    text = 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    g()\nKeyError: colour\n'
    assert "colour" in read_task(text).subject
    assert "recent" not in read_task(text).subject


def test_a_quotation_alone_is_the_task() -> None:
    """A fully quoted text counts; a test runner's marker is not a quotation (rule T-5)."""
    assert "xylophon" in read_task("> nothing of xylophones").terms
    assert "xylophon" in read_task("hello\n>       assert xylophones()").terms


@pytest.mark.parametrize("text", ["", " \n\t\n", "\0", "\ud800", "the of and", "?!", "\r\r\n"])
def test_a_text_that_tells_nothing(text: str) -> None:
    """Empty or odd tasks are valid and name nothing (rule T-5)."""
    assert read_task(text) == TaskText(text=text)


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("修复登录页面的错误", "登录"),
        ("Größe der Überschrift prüfen", "größe"),
        ("Исправить ошибку", "ошибку"),
    ],
)
def test_other_languages_than_english(text: str, term: str) -> None:
    """A task in Chinese, German or Russian has terms (rule T-5)."""
    assert term in read_task(text).terms


def test_folders_of_a_machine_are_no_terms() -> None:
    """Absolute paths count by their last folders; locations keep all (rule T-2)."""
    task = read_task("crash in /home/zaphod/work/shop/src/cart.py:7")
    assert "zaphod" not in task.terms
    assert {"shop", "src", "cart"} <= task.terms.keys()
    assert task.locations == (("/home/zaphod/work/shop/src/cart.py", 7, ""),)


def test_a_form_that_was_filled_in() -> None:
    """Headings, comments and checkboxes of issue forms are ignored (rule T-2)."""
    text = (
        "<!-- Thank you for the report! -->\n### Describe the bug\n\nThe cart is empty.\n\n"
        "**To Reproduce**\n\n## Retry of payments\n- [x] I have searched\n<!-- unclosed"
    )
    task = read_task(text)
    assert task.terms.keys() == {"cart", "empty", "retry", "payment", "unclos"}
    assert task.subject == ("cart", "empty")


def test_what_every_traceback_says_is_no_term() -> None:
    """Fixed texts of tracebacks, addresses and package folders are ignored (rule T-2)."""
    text = (
        "Traceback (most recent call last):\n"
        '  File "/opt/lib/site-packages/shop/cart.py", line 3, in total\n'
        "    raise Empty\n"
        "shop.cart.Empty: <Cart object at 0x7f13056ad10>\n"
    )
    assert read_task(text).terms.keys() == {
        "shop",
        "cart",
        "py",
        "total",
        "rais",
        "empty",
        "object",
    }
    assert "File" not in read_task(text).names


HOSTILE = [
    "a", "/a", "a.", ":1", "(", "\\", "_", "a-b ", "Zz ", "[", "a::", "a-by", "impl<", "\n", "\t \n", "> ", " ", "#1 ",
    '  File "', '  File "a", line ', "    at a (b:1:1\n", " in x (", "http://", "https://a/b/c/blob/d/", "a@b", "<a@",
    "fix(", "`a", "'", "a.py:1\n", "Caused by:\n", "x.rb:1:in `", "#0 a(1): ", "at a.b(", "C:\\", "\x1b[", "....", "a#",
    "0: a\n", "undefined a", "is not ", "symbol: class ", "é", "登", "\ud800", "a/", "wrote:\n", "<!--", "- [x] a\n", "## ",
]  # fmt: skip


@pytest.mark.parametrize("part", HOSTILE)
def test_no_text_takes_for_ever(part: str) -> None:
    """A text of 200 KB is parsed quickly (rule T-5)."""
    text = (part * (200_000 // len(part) + 1))[:200_000]
    begun = time.process_time()
    read_task(text)
    assert time.process_time() - begun < 5


@given(
    st.lists(st.sampled_from([*HOSTILE, "\n", "word", "A", "1", '"', ".py"]), max_size=60).map(
        "".join
    )
    | st.text()
)
def test_any_text_is_read(text: str) -> None:
    """Any text is parsed, with bounded, repeatable results (rules T-4 and T-5)."""
    task = read_task(text)
    assert task == read_task(text)
    assert len(task.locations) <= 200
    assert len(task.names) <= 400
    assert set(task.names.values()) <= {1.0, 0.3}
    assert all(
        location.path and location.line >= 0 and "\\" not in location.path
        for location in task.locations
    )


def test_a_log_tells_by_what_it_says_once() -> None:
    """Repeated log lines are not the topic (rule T-5)."""
    log = "".join(
        f"12:00:{n % 60:02} INFO worker {n} got path=/items/{n} in {n}ms\n" for n in range(900)
    )
    error = "12:00:59 ERROR bar drawn twice, see ProgressBar.render_progress\n"
    task = read_task(log + error + log)
    assert {"error", "bar", "twic"} <= set(task.subject)
    assert "worker" not in task.terms
    assert task.names["ProgressBar.render_progress"] == 1.0
    assert read_task(log).terms["worker"] == 900


@pytest.mark.parametrize(("times", "counted"), [(11, 11), (12, 0)])
def test_a_few_lines_alike_are_no_log(times: int, counted: int) -> None:
    """A table or short list counts; twelve similar lines are a log (rule T-5)."""
    lines = "".join(f"worker {n} stopped\n" for n in range(times))
    assert read_task(f"{lines}bar drawn twice\n").terms.get("worker", 0) == counted
