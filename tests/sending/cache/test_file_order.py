"""What stands where in the next request: files in their order, older versions, diffs, and a discussion carried on."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, strategies as st

from aggregate import Prompt, Segment, count
from aggregate.prompt import count_prompt
from aggregate.prompt.files import file_block
from aggregate.prompt.output import map_sources
from aggregate.sending import known_model
from aggregate.sending.cache import (
    HashedPrompt,
    HashedSegment,
    diff_segment,
    file_lines,
    gone_segment,
    sent_lines,
)
from aggregate.sending.cache.file_order import (
    LARGEST,
    UNSENT,
    CachedPrompt,
    FileOrder,
    OrderedPrompt,
)
from aggregate.sending.models import NO_CACHE, CacheLookup, CachePolicy
from tests.fakes.prompts import file_segment, part

MARKS = known_model("anthropic", "claude-sonnet-5").cache
PREFIX = CachePolicy(CacheLookup.PREFIX)
LOCAL = known_model("compatible", "").cache
NAMES = [f"{letter}.py" for letter in "abcdef"]


def body(name: str, lines: int, changed: int = 0) -> str:
    """Return a file; ``changed`` of its lines differ."""
    return "".join(f"{name} {n}{' new' * (n < changed)}\n" for n in range(lines))


SIZES = {"a.py": 60, "b.py": 120, "c.py": 240}
CONTENT = {name: body(name, lines) for name, lines in SIZES.items()}
LONG = "q1" + " and so on" * 400
"""A question that costs more to be written again than changes behind it cost to be read."""
BIG = {name: body(name, 400) for name in SIZES}


def prompt_of(
    files: Mapping[str, str],
    said: Sequence[str] = ("q1",),
    *,
    beads: str = "",
    language: str = "text",
) -> Prompt:
    """Return a prompt of files, beads if there are any, and excerpts."""
    blocks = [
        file_segment(path, file_block(path, text, language=language))
        for path, text in files.items()
    ]
    between = [part("beads", f"## Beads\n\n{beads}", stability="slow")] if beads else []
    history = [part("history", "## Discussion History", stability="volatile")]
    history += [
        part("history", f"### {n}\n\n{text}", f"Discussion Excerpt {n}", stability="volatile")
        for n, text in enumerate(said, start=1)
    ]
    heading = [part("files", "## Files", stability="stable")] if blocks else []
    return Prompt((*heading, *blocks, *between, *history))


def hashed(prompt: Prompt) -> HashedPrompt:
    return HashedPrompt.of(prompt, count_prompt(prompt).segments)


def sent(
    ordered: OrderedPrompt | HashedPrompt,
    *,
    breakpoints: tuple[int, ...] | None = None,
    lost: int = 0,
    gone: Collection[str] = (),
) -> CachedPrompt:
    """Return a prompt as the last one that was sent; the text of segment ``lost`` is not to be had any more."""
    prompt = ordered.prompt if isinstance(ordered, OrderedPrompt) else ordered
    texts: list[str | None] = [one.segment.text for one in prompt.segments]
    if lost:
        texts[lost] = None
    notes = [HashedSegment.counted(gone_segment(path), count) for path in gone]
    return CachedPrompt(prompt, texts.__getitem__, breakpoints, gone=notes)


def order(
    prompt: Prompt,
    earlier: CachedPrompt | None = None,
    *,
    policy: CachePolicy = MARKS,
    grown: Collection[str] | None = None,
) -> OrderedPrompt:
    """Put a prompt in order behind another one; with ``grown`` it is one with a budget."""
    fitted = {} if grown is None else {"grown": frozenset(grown)}
    made = FileOrder(hashed(prompt), policy, earlier or UNSENT, count, **fitted)
    return made.ordered()


def outline(ordered: OrderedPrompt) -> str:
    """Return what stands where: files, diffs of them with an asterisk, excerpts by their number."""
    return " ".join(
        one.source.removeprefix("Discussion Excerpt ").removesuffix(".py")
        + "*" * (one.section == "changed")
        for one in ordered.prompt.parts
        if one.source
    )


def told(ordered: OrderedPrompt, path: str) -> list[str] | None:
    """Return the lines of a file as a reader of the whole prompt knows them."""
    texts = [
        one.segment.text
        for one in ordered.prompt.parts
        if one.source == path and one.section in ("files", "changed")
    ]
    return sent_lines(texts, path)


def test_the_first_order_is_the_configured_one() -> None:
    """What is sent first stands as ``run`` writes it (B-8)."""
    plain = prompt_of(CONTENT)
    assert order(plain, policy=PREFIX).prompt.prompt == plain


def test_a_file_that_changed_too_much_is_written_anew() -> None:
    """Where the diff would be longer than the file, all from there on is written again, without older versions."""
    other = CONTENT | {"c.py": body("c.py", 240, 240)}
    one = {"b.py": body("b.py", 120, 1)}
    first = sent(order(prompt_of(CONTENT), policy=PREFIX))
    assert outline(order(prompt_of(other), first, policy=PREFIX)) == "a b c 1"
    second = sent(order(prompt_of(CONTENT | one), first, policy=PREFIX))
    third = order(prompt_of(other | one), second, policy=PREFIX)
    assert outline(third) == "a b c b* 1"
    assert third.older == ("b.py",)


def test_breakpoints_decide_what_is_worth_keeping() -> None:
    """Old files are kept where a breakpoint lets them be read, and written anew where none does."""
    first = order(prompt_of(CONTENT), policy=PREFIX)
    changed = prompt_of(CONTENT | {"c.py": body("c.py", 240, 1)})
    shown = [
        outline(order(changed, sent(first, breakpoints=breakpoints))) for breakpoints in ((5,), ())
    ]
    assert shown == ["a b c c* 1", "a b c 1"]


CONTENTS = st.dictionaries(
    st.sampled_from(NAMES),
    st.builds(body, st.just("x"), st.integers(0, 40), st.integers(0, 8)),
    max_size=6,
)


def by_path(prompt: Prompt, section: str) -> dict[str, Segment]:
    return {one.source: one for one in prompt.segments if one.section == section and one.source}


@given(st.lists(CONTENTS, min_size=1, max_size=8), st.sampled_from([PREFIX, MARKS, LOCAL]))
def test_every_file_can_be_told_as_it_is(
    contents: list[dict[str, str]], policy: CachePolicy
) -> None:
    """Whatever happens, each file stands there once, as it is or with the diff to that, and no other file does.

    The tokens are those of the prompt, older versions take little, and put in order behind itself nothing moves.
    """
    last = None
    for number, content in enumerate(contents):
        plain = prompt_of(content, ["said"] * (number + 1))
        now = order(plain, last, policy=policy)
        shown = now.prompt.prompt
        files, diffs, current = (
            by_path(shown, "files"),
            by_path(shown, "changed"),
            by_path(plain, "files"),
        )
        assert files.keys() == content.keys()
        assert tuple(path for path in files if path in diffs) == now.older
        for path, one in files.items():
            if path in diffs:
                assert diffs[path] == diff_segment(file_lines(one.text), current[path])
            else:
                assert one == current[path]
        others = [
            [one for one in each.segments if one.section == "history"] for each in (shown, plain)
        ]
        assert others[0] == others[1]
        tokens = [one.tokens for one in now.prompt.parts]
        assert sum(tokens) == count_prompt(shown).document
        assert now.prompt == HashedPrompt.of(shown, tokens)
        total = count_prompt(plain).document
        assert now.extra <= LARGEST * total + 40  # the section's heading
        last = sent(now)
        assert order(plain, last, policy=policy).prompt.prompt == shown


def with_remainder(prompt: Prompt, text: str) -> Prompt:
    """Return a prompt that says behind its files what is not shown."""
    place = sum(segment.section == "files" for segment in prompt.segments)
    note = part("files", f"### Not shown\n\n{text}", stability="volatile")
    return Prompt((*prompt.segments[:place], note, *prompt.segments[place:]))


def places(ordered: OrderedPrompt) -> list[str]:
    """Return what stands where, up to the discussion."""
    shown = (one for one in ordered.prompt.parts if one.section != "history")
    return [
        f"{one.source or one.segment.text.split(chr(10))[0]}{'*' * (one.section == 'changed')}"
        for one in shown
    ]


def fitted(
    content: Mapping[str, str], after: OrderedPrompt | None = None, grown: Collection[str] = ()
) -> OrderedPrompt:
    """Put a prompt with a budget in order behind another one."""
    return order(prompt_of(content), sent(after) if after else None, policy=PREFIX, grown=grown)


def test_what_is_not_shown_stands_behind_all_that_may_stay() -> None:
    """New files and diffs stand before it, so that it ends nothing that a cache holds (rules B-7 and B-9)."""
    first = order(with_remainder(prompt_of(CONTENT), "three"), policy=PREFIX, grown=())
    assert places(first)[-1] == "### Not shown"
    more = with_remainder(
        prompt_of(CONTENT | {"b.py": CONTENT["b.py"] + "b.py more\n", "d.py": "d\n"}), "two"
    )
    second = order(more, sent(first), policy=PREFIX, grown=["b.py"])
    kept = places(first)[:-1]
    assert places(second) == [*kept, "d.py", "## Files (Changed)*", "b.py*", "### Not shown"]


def test_what_a_question_adds_stands_behind_its_discussion() -> None:
    """Files and earlier turns stay where they were sent; diffs and new files stand before the question (rule B-9)."""
    first = fitted(CONTENT)
    more = CONTENT | {"b.py": CONTENT["b.py"] + "b.py more\n", "d.py": "d\n"}
    second = order(
        prompt_of(more, ["q1", "a1", "q2"]), sent(first), policy=PREFIX, grown=[*CONTENT]
    )
    sections = [one.section for one in second.prompt.parts]
    start = sections.index("changed")
    assert set(sections[start:-1]) == {"changed"}
    assert sections[start - 1] == sections[-1] == "history"
    now = tuple(one.digest for one in second.prompt.parts)
    before = first.prompt.digests[1:]
    assert now[: len(before)] == before
    assert second.older == ("b.py",)


def test_a_file_that_shows_less_does_not_stay_as_it_was() -> None:
    """A diff would say that its lines were deleted, so it and all behind it are written as they are now (rule B-9)."""
    first = fitted(CONTENT)
    less = CONTENT | {"b.py": body("b.py", 115)}
    assert fitted(less, first, ["a.py", "c.py"]).older == ()
    assert fitted(less, first, [*CONTENT]).older == ("b.py",)


def test_a_file_that_showed_hardly_anything_stands_behind_as_a_whole() -> None:
    """Where a diff would be longer than the block, the block itself stands there (rule B-9)."""
    first = fitted({"a.py": "a line\n", "b.py": CONTENT["b.py"]})
    more = {"a.py": "".join(f"{n}\n" for n in range(40)), "b.py": CONTENT["b.py"]}
    second = fitted(more, first, ["a.py", "b.py"])
    (whole,) = by_path(second.prompt.prompt, "changed").values()
    assert whole.text == file_block("a.py", more["a.py"])


@pytest.mark.parametrize("is_carried_on", [True, False])
def test_a_record_does_not_say_how_long_an_older_version_is(is_carried_on: bool) -> None:
    """What stays of the last prompt is counted anew: its record may have come with the project (C-6)."""
    first = sent(order(prompt_of(CONTENT), policy=PREFIX))
    segments = first.prompt.segments
    forged = HashedPrompt(tuple(replace(segment, tokens=0) for segment in segments))
    said = ["q1", "a1"] if is_carried_on else ["q1"]
    earlier = replace(first, prompt=forged, breakpoints=None if is_carried_on else ())
    plain = prompt_of(CONTENT | {"c.py": body("c.py", 240, 1)}, said)
    ordered = order(plain, earlier, policy=PREFIX if is_carried_on else NO_CACHE)
    assert ordered.prompt.tokens == count_prompt(ordered.prompt.prompt).document


def test_a_change_stands_between_the_last_answer_and_the_question() -> None:
    """Each is told once, as a diff from what was told before; nothing that was sent moves (rule C-1)."""
    edited = BIG | {"b.py": BIG["b.py"].replace("b.py 7\n", "seven\n")}
    again = BIG | {"b.py": edited["b.py"].replace("seven\n", "7\n")}
    first = order(prompt_of(BIG, [LONG]), None)
    second = order(prompt_of(edited, [LONG, "a1", "q2"]), sent(first))
    third = order(prompt_of(edited, [LONG, "a1", "q2", "a2", "q3"]), sent(second))
    fourth = order(prompt_of(again, [LONG, "a1", "q2", "a2", "q3", "a3", "q4"]), sent(third))
    assert [outline(now) for now in (first, second, third, fourth)] == [
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
    assert [outline(now) for now in (second, third, fourth)] == [
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
    now = order(prompt_of(BIG, [LONG]), None)
    said, text, outlines = [LONG], BIG["c.py"], []
    for number in range(40):
        said += [f"a{number}", f"q{number + 2}"]
        text = text.replace(f"c.py {10 * number}\n", f"another line {number}\n")
        now = order(prompt_of(BIG | {"c.py": text}, said), sent(now))
        outlines.append(outline(now))
        assert told(now, "c.py") == file_lines(file_block("c.py", text))
        assert now.extra <= 0.25 * hashed(prompt_of(BIG | {"c.py": text}, said)).tokens
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
    assert FileOrder(hashed(prompt), MARKS, earlier, count).continued() is None


def test_another_fence_shows_the_file_as_a_whole() -> None:
    """No diff tells that a file is taken for one of another language."""
    first = order(prompt_of(BIG, [LONG]), None)
    python = prompt_of(BIG, [LONG, "a1", "q2"], language="python")
    carried_on = FileOrder(hashed(python), MARKS, sent(first), count).continued()
    assert carried_on is not None
    whole = [part.segment.text for part in carried_on if part.section == "changed"]
    assert [text.splitlines()[2] for text in whole[1:]] == ["```python"] * 3


@dataclass(frozen=True)
class Edit:
    """A change of one file: what replaces which lines, four of which are all; an empty file is none."""

    path: str
    start: int
    length: int
    lines: tuple[str, ...]

    def applied(self, files: Mapping[str, str]) -> dict[str, str]:
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
        history = [one for one in plain.segments if one.section == "history"]
        shown = ordered.prompt.prompt
        assert [one for one in shown.segments if one.section == "history"] == history
        assert shown.segments[-1] == history[-1]
        assert ordered.prompt.tokens == count_prompt(shown).document
