"""The record of a request: its hashes, and what is known if it was sent."""

from pathlib import Path

from aggregate import Prompt, Segment
from aggregate.base.values import Section, Stability
from aggregate.prompt import request_log_path, write_numbered
from aggregate.sending import LoggedRequest, find_prompt, read_request, recent_requests
from aggregate.sending.cache import HashedPrompt
from aggregate.sending.request_log import SentRecord, read_segment, write_request

PROMPT = Prompt(
    (
        Segment(Section.FILES, "## Files", Stability.STABLE),
        Segment(Section.FILES, "### `a.py`\n\nA", Stability.STABLE, "a.py"),
    )
)
FINGERPRINT = HashedPrompt.of(PROMPT, [3, 10]).fingerprint


def test_the_form_of_a_record(tmp_path: Path) -> None:
    """Shown whole: records of earlier releases are read, and this one's by them."""
    path = tmp_path / "demo_001.md"
    write_request(
        LoggedRequest(path, FINGERPRINT, SentRecord("anthropic", "m", (1, 3), (3,), {"a.py": 0.5}))
    )
    assert request_log_path(path).read_text(encoding="utf-8") == (
        '{"version":2,"encoding":"o200k_base","links":[["system","","e4a6a0577479b2b4",0,0],\n'
        '["files","","d2800ed9e0197ce7",3,8],\n["files","a.py","352a821f8a7b0128",10,13]],'
        '"sent":{"provider":"anthropic","model":"m","ends":[1,3],"marks":[3],"changes":{"a.py":0.5},"files":{}}}\n'
    )


def test_a_record_is_read_back(tmp_path: Path) -> None:
    """What is written is read, byte for byte the same each time; what is damaged counts as none."""
    path = write_numbered(tmp_path, "demo", PROMPT.markdown)
    logged = LoggedRequest(
        path,
        FINGERPRINT,
        SentRecord("anthropic", "m", (1, 3), (3,), {"a.py": 0.5}, {"a.py": "00ff"}),
    )
    write_request(logged)
    first = request_log_path(path).read_bytes()
    write_request(logged)
    assert request_log_path(path).read_bytes() == first
    assert read_request(path) == logged
    assert list(recent_requests(tmp_path, "demo")) == [logged]
    assert find_prompt(tmp_path, "demo", "1") == path
    for damage in (
        b"",
        b"[]",
        b'{"version": 1}',
        first[: len(first) // 2],
        first.replace(b'"links"', b'"lunks"'),
    ):
        request_log_path(path).write_bytes(damage)
        assert read_request(path) is None


def test_a_segment_is_read_back_from_its_prompt(tmp_path: Path) -> None:
    """Each one by its number, in any alphabet; ``None`` where the prompt was edited, cut or deleted."""
    texts = ["## Files", "### \u00e9\U0001f600", "### b", "### c"]
    prompt = Prompt(tuple(Segment(Section.FILES, text, Stability.STABLE, text) for text in texts))
    logged = LoggedRequest(
        write_numbered(tmp_path, "demo", prompt.markdown),
        HashedPrompt.of(prompt, [1] * 4, system="Be brief.").fingerprint,
    )
    assert [read_segment(logged, number) for number in range(1, 5)] == texts
    logged.path.write_bytes(prompt.markdown.replace("### b", "### B").encode()[:-1])
    assert [read_segment(logged, number) for number in range(1, 5)] == [*texts[:2], None, None]
    logged.path.write_bytes(b"\xff" * 99)
    assert read_segment(logged, 1) is None
    logged.path.unlink()
    assert read_segment(logged, 1) is None
