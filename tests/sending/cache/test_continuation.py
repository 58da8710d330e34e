"""The last prompt carried on: nothing that was sent moves, and a reader of all of it knows each file as it is now."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, strategies as st

from aggregate import Prompt, Segment, count
from aggregate.base.values import Section, Stability
from aggregate.prompt import count_prompt
from aggregate.prompt.layout import FILES, file_block, file_segment, files_section
from aggregate.prompt.sections import gone_segment, told_lines
from aggregate.prompt.sections.changed_files import file_lines
from aggregate.prompt.source_map import map_sources
from aggregate.sending.cache import HashedPrompt
from aggregate.sending.cache.file_order import OrderedPrompt, order_for_sending
from aggregate.sending.cache.fingerprint import HashedSegment
from aggregate.sending.cache.policy import policy_for
from aggregate.sending.cache.retention import CachedPrompt, continued_segments

POLICY = policy_for("anthropic", "claude-sonnet-5")
LONG = "q1" + " and so on" * 400
"""A question that costs more to be written again than changes behind it cost to be read."""
BIG = {name: "".join(f"{name} {n}\n" for n in range(400)) for name in ("a.py", "b.py", "c.py")}


def prompt_of(
    files: Mapping[str, str], said: Sequence[str], *, beads: str = "", language: str = "text"
) -> Prompt:
    """Return a prompt of files, beads if there are any, and excerpts."""
    blocks = (
        file_segment(path, file_block(path, text, language=language))
        for path, text in files.items()
    )
    between = [Segment(Section.BEADS, f"## Beads\n\n{beads}", Stability.SLOW)] if beads else []
    history = [Segment(Section.HISTORY, "## Discussion History", Stability.VOLATILE)]
    history += [
        Segment(
            Section.HISTORY, f"### {n}\n\n{text}", Stability.VOLATILE, f"Discussion Excerpt {n}"
        )
        for n, text in enumerate(said, start=1)
    ]
    return Prompt((*files_section(FILES, blocks), *between, *history))


def hashed(prompt: Prompt) -> HashedPrompt:
    """Return a prompt with its hashes."""
    return HashedPrompt.of(prompt, count_prompt(prompt).segments)


def sent(
    ordered: OrderedPrompt | HashedPrompt, *, lost: int = 0, gone: Collection[str] = ()
) -> CachedPrompt:
    """Return a prompt as the last one that was sent; the text of segment ``lost`` is not to be had any more."""
    prompt = ordered.prompt if isinstance(ordered, OrderedPrompt) else ordered
    texts: list[str | None] = ["", *(part.segment.text for part in prompt.segments)]
    if lost:
        texts[lost] = None
    notes = [HashedSegment.counted(gone_segment(path), count) for path in gone]
    return CachedPrompt(prompt.fingerprint, texts.__getitem__, gone=notes)


def order(prompt: Prompt, earlier: CachedPrompt | None) -> OrderedPrompt:
    """Put a prompt in order behind another one."""
    return order_for_sending(hashed(prompt), POLICY, earlier=earlier, changes={}, count=count)


def outline(ordered: OrderedPrompt) -> str:
    """Return what stands where: files, diffs of them with an asterisk, excerpts by their number."""
    return " ".join(
        part.path.removeprefix("Discussion Excerpt ").removesuffix(".py")
        + "*" * (part.section is Section.CHANGED)
        for part in ordered.prompt.segments
        if part.path
    )


def told(ordered: OrderedPrompt, path: str) -> list[str] | None:
    """Return the lines of a file as a reader of the whole prompt knows them."""
    texts = [
        part.segment.text
        for part in ordered.prompt.segments
        if part.path == path and part.section in (Section.FILES, Section.CHANGED)
    ]
    return told_lines(texts, path)


def test_a_change_stands_between_the_last_answer_and_the_question() -> None:
    """Each is told once, as a diff from what was told before; nothing that was sent moves (rule C-1)."""
    edited = BIG | {"b.py": BIG["b.py"].replace("b.py 7\n", "seven\n")}
    again = BIG | {"b.py": edited["b.py"].replace("seven\n", "7\n")}
    first = order(prompt_of(BIG, [LONG]), None)
    second = order(prompt_of(edited, [LONG, "a1", "q2"]), sent(first))
    third = order(prompt_of(edited, [LONG, "a1", "q2", "a2", "q3"]), sent(second))
    fourth = order(prompt_of(again, [LONG, "a1", "q2", "a2", "q3", "a3", "q4"]), sent(third))
    assert [outline(turn) for turn in (first, second, third, fourth)] == [
        "a b c 1",
        "a b c 1 2 b* 3",
        "a b c 1 2 b* 3 4 5",
        "a b c 1 2 b* 3 4 5 6 b* 7",
    ]
    markdown = fourth.prompt.prompt.markdown
    assert markdown.startswith(third.prompt.prompt.markdown)
    assert markdown.endswith(
        """\
### 6

a3

## Files (Changed)

These files have changed since they were last shown above. Each diff leads from what was shown last, with the diffs \
above applied, to the content now; where there is no diff, the file stands here as it is now.

### File b.py (diff)

```diff
@@ -5,7 +5,7 @@
 b.py 4
 b.py 5
 b.py 6
-seven
+7
 b.py 8
 b.py 9
 b.py 10
```

### 7

q4"""
    )
    assert told(fourth, "b.py") == file_lines(file_block("b.py", again["b.py"]))
    assert fourth.older == ("b.py",)
    origins = map_sources(fourth.prompt.prompt.segments).origins()
    lines = dict(zip(markdown.split("\n"), origins, strict=True))
    assert lines["+7"].first == 8
    assert lines["+seven"].first == 0  # a later diff leads on from it


def test_the_place_of_a_file_that_has_gone_stays() -> None:
    """It is told once that it is gone; one of the same name that comes later stands there as a whole (rule C-1)."""
    big = BIG | {f"{name}.py": BIG["a.py"] for name in "defgh"}
    less = {path: text for path, text in big.items() if path != "b.py"}
    first = order(prompt_of(big, [LONG]), None)
    second = order(prompt_of(less, [LONG, "a1", "q2"]), sent(first, gone=["b.py"]))
    said = [LONG, "a1", "q2", "a2", "q3"]
    third = order(prompt_of(less, said), sent(second, gone=["b.py"]))
    again = less | {"b.py": "new\n"}
    fourth = order(prompt_of(again, [*said, "a3", "q4"]), sent(third))
    assert [outline(turn) for turn in (second, third, fourth)] == [
        "a b c d e f g h 1 2 b* 3",
        "a b c d e f g h 1 2 b* 3 4 5",
        "a b c d e f g h 1 2 b* 3 4 5 6 b* 7",
    ]
    assert "\n\n### File b.py (gone)\n\nIt is no longer there.\n" in second.prompt.prompt.markdown
    assert told(fourth, "b.py") == ["new"]
    lines = third.prompt.prompt.markdown.split("\n")
    assert len([*map_sources(third.prompt.prompt.segments).origins()]) == len(lines)
    taken_out = order(prompt_of(less, [LONG, "a1", "q2"]), sent(first))
    assert "b.py" not in taken_out.prompt.prompt.markdown


def test_a_question_that_is_asked_again_comes_behind_the_change() -> None:
    """Where nothing was answered, the prompt still ends with the question."""
    first = order(prompt_of(BIG, [LONG, "a1", "q2"]), None)
    edited = BIG | {"b.py": BIG["b.py"] + "more\n"}
    second = order(prompt_of(edited, [LONG, "a1", "q2"]), sent(first))
    assert outline(second) == "a b c 1 2 b* 3"
    assert order(prompt_of(edited, [LONG, "a1", "q2"]), sent(second)).prompt == second.prompt


def test_changes_that_take_too_much_are_written_into_the_files() -> None:
    """A reader is not burdened with more than a part; then the files stand as they are, and the discussion last (rule C-1)."""
    turn = order(prompt_of(BIG, [LONG]), None)
    said, text, outlines = [LONG], BIG["c.py"], []
    for number in range(40):
        said += [f"a{number}", f"q{number + 2}"]
        text = text.replace(f"c.py {10 * number}\n", f"another line {number}\n")
        turn = order(prompt_of(BIG | {"c.py": text}, said), sent(turn))
        outlines.append(outline(turn))
        assert told(turn, "c.py") == file_lines(file_block("c.py", text))
        assert turn.extra <= 0.25 * hashed(prompt_of(BIG | {"c.py": text}, said)).tokens
    told_behind = ["c*" in shown.split(" 2 ")[1] for shown in outlines]
    assert told_behind[0]
    assert 1 <= told_behind.count(False) <= 8


@pytest.mark.parametrize(
    ("prompt", "lost"),
    [
        (prompt_of({"a.py": BIG["a.py"], "b.py": BIG["b.py"]}, [LONG, "a1", "q2"]), 0),
        (prompt_of(BIG, [LONG, "a1", "q2"], beads="closed"), 0),
        (prompt_of(BIG, [LONG, "a1", "q2"]), 0),
        (prompt_of(BIG | {"b.py": "b\n"}, [LONG, "a1", "q2"], beads="open"), 3),
    ],
    ids=["a file has gone", "beads are others", "beads have gone", "the text is lost"],
)
def test_what_cannot_be_carried_on(prompt: Prompt, lost: int) -> None:
    """What stands before the discussion and is not there any more would be sent again; nothing tells what a lost one was."""
    earlier = sent(hashed(prompt_of(BIG, [LONG], beads="open")), lost=lost)
    assert continued_segments(earlier, hashed(prompt), count) is None


def test_another_fence_shows_the_file_as_a_whole() -> None:
    """No diff tells that a file is taken for one of another language."""
    first = order(prompt_of(BIG, [LONG]), None)
    python = prompt_of(BIG, [LONG, "a1", "q2"], language="python")
    carried_on = continued_segments(sent(first), hashed(python), count)
    assert carried_on is not None
    whole = [part.segment.text for part in carried_on if part.section is Section.CHANGED]
    assert [text.splitlines()[2] for text in whole[1:]] == ["```python"] * 3


@dataclass(frozen=True)
class Edit:
    """A change of one file: what replaces which lines, four of which are all; an empty file is none."""

    path: str
    start: int
    length: int
    lines: tuple[str, ...]

    def applied(self, files: Mapping[str, str]) -> dict[str, str]:
        """Return the files behind it."""
        if self.length == 4:
            return {**files, self.path: ""}
        text = files.get(self.path, "").split("\n")
        text[self.start : self.start + self.length] = self.lines
        return {**files, self.path: "\n".join(text)}


EDITS = st.builds(
    Edit,
    st.sampled_from(["a.py", "b.py", "c.py", "d.py"]),
    st.integers(0, 400),
    st.integers(0, 4),
    st.tuples() | st.tuples(st.sampled_from(["", "x", "```", "@@ -1,2 +1,2 @@", "-", "a.py 3"])),
)


@given(st.lists(st.lists(EDITS, max_size=3), min_size=1, max_size=6))
def test_a_reader_knows_every_file_as_it_is(turns: list[list[Edit]]) -> None:
    """Whatever is edited or goes, blocks and diffs in their order make up the files; the discussion stays in order."""
    files: dict[str, str] = dict(BIG)
    said: list[str] = ["q0"]
    ordered = order(prompt_of(files, said), None)
    seen: set[str] = set()
    for number, edits in enumerate(turns, start=1):
        for edit in edits:
            files = edit.applied(files)
        said += [f"a{number}", f"q{number}"]
        there = {path: text for path, text in files.items() if text}
        seen |= set(files)
        plain = prompt_of(there, said)
        ordered = order(plain, sent(ordered, gone=sorted(seen - set(there))))
        for path in seen:
            now = file_lines(file_block(path, there[path])) if path in there else []
            assert told(ordered, path) == now
        history = [one for one in plain.segments if one.section is Section.HISTORY]
        shown = ordered.prompt.prompt
        assert [one for one in shown.segments if one.section is Section.HISTORY] == history
        assert shown.segments[-1] == history[-1]
        assert ordered.prompt.tokens == count_prompt(shown).document
