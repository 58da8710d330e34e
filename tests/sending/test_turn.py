"""One turn of a discussion: composed, planned, sent, kept."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from aggregate import (
    ConfigError,
    FinishReason,
    OutputError,
    PromptTooLongError,
    ProviderError,
    Reply,
    ScopeError,
    Usage,
    build_discussion_text,
    build_file_items,
    build_markdown_no_history,
    load_config,
    open_project,
)
from aggregate.prompt.output import request_log_path
from aggregate.sending import (
    Exchange,
    ModelSelection,
    prepare_turn,
    read_request,
    send_turn,
    truncation_warning,
)
from tests.fakes.images import png
from tests.fakes.transports import scripted
from tests.fakes.user_files import by_user, turns_in
from tests.projects import project

SCRIPTED = ModelSelection(provider="scripted", discussion="default")
CODE = "".join(f"def name_{n}(value):\n    return value + {n}\n" for n in range(400))
CONFIG = """
    [project]
    name = "demo"
    [files]
    paths = ["src/*.py"]
    [personas.reviewer]
    provider = "scripted"
    model = "claude-opus-4-5"
    system_prompt = "Review it."
    aggregation_strategy = "summarize"
    [personas.brief]
    provider = "scripted"
    system_prompt = "Be brief."
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {f"src/{name}.py": f"# {name}\n{CODE}" for name in "abc"}
    return project(tmp_path, {"manual_slop.toml": CONFIG} | files)


def ready(
    folder: Path,
    message: str,
    choice: ModelSelection = SCRIPTED,
    *,
    answer: str | Reply | ProviderError = "Yes.",
) -> Exchange:
    """Prepare a turn that will be answered with ``answer``."""
    made = prepare_turn(load_config(folder / "manual_slop.toml"), message, choice)
    return replace(made, client=scripted([answer], like=made.client))


def say(
    folder: Path, message: str, choice: ModelSelection = SCRIPTED, *, answer: str = "Yes."
) -> tuple[Exchange, Exchange]:
    made = ready(folder, message, choice, answer=answer)
    return made, send_turn(made)


def test_the_request_is_the_file_and_the_file_is_the_public_text(folder: Path) -> None:
    """The text that is sent equals the numbered file but for the line feed at its end, and the static part plus the discussion equal both (M-10, M-11)."""
    say(folder, "First?")
    made, done = say(folder, "Second?")
    written = done.path.read_text(encoding="utf-8")
    assert f"{made.plan.text}\n" == written == made.prompt.written
    history = [
        *turns_in(folder / "manual_slop_history.toml")[:-2],
        {"role": "User", "content": "Second?"},
    ]
    static = build_markdown_no_history(build_file_items(folder, ["src/*.py"]), folder, [])
    assert made.plan.text == static + "\n\n" + build_discussion_text(history)


def test_the_second_turn_reads_the_first(folder: Path) -> None:
    """What was sent is read from the cache, across two calls that know of each other by the record only."""
    first, _ = say(folder, "First?")
    second, done = say(folder, "Second?")
    total = first.plan.total
    assert abs(done.reply.usage.cache_read - total) <= 1
    assert second.expected == replace(done.reply.usage, output=0)
    assert second.prefix is not None
    kept = f"the first {second.prefix.shared:,} tokens are as in the last prompt"
    assert second.prefix.sentence == f"{kept}, so a provider's cache may hold them"
    assert second.prefix.shared == total


def edit(folder: Path, name: str, *, more: str) -> None:
    path = folder / "src" / name
    path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")


def files_of(made: Exchange) -> list[str]:
    """Return the files of a prompt in order, those with a diff with an asterisk."""
    shown = (
        one for one in made.prompt.segments if one.section in ("files", "changed") and one.source
    )
    return [one.source.removeprefix("src/") + "*" * (one.section == "changed") for one in shown]


def test_a_changed_file_is_named_and_shown_by_a_diff(folder: Path) -> None:
    """The files before it and behind it are read from the cache; what is sent is still the file that was written."""
    first, _ = say(folder, "First?")
    edit(folder, "b.py", more="# more\n")
    made, done = say(folder, "Second?")
    assert made.prefix is not None
    assert made.prefix.where == "src/b.py"
    assert (files_of(made), made.ordered.older) == (
        ["a.py", "b.py", "c.py", "b.py*"],
        ("src/b.py",),
    )
    assert done.path.read_text(encoding="utf-8") == f"{made.plan.text}\n"
    assert "### File src/b.py (diff)\n\n```diff\n@@ -799,3 +799,4 @@\n" in made.plan.text
    assert done.reply.usage.cache_read > 0.99 * first.plan.total
    assert made.ordered.extra < 150
    again, _ = say(folder, "Third?")
    assert again.prefix is not None
    assert again.prefix.where == ""
    edit(folder, "c.py", more="# more\n")
    assert files_of(ready(folder, "Fourth?")) == ["a.py", "b.py", "c.py", "b.py*", "c.py*"]


def test_diffs_end_when_no_cache_holds_the_files(folder: Path) -> None:
    """For another model, other instructions, after the cache's lifetime, and where the last prompt was edited."""
    _, done = say(folder, "First?")
    edit(folder, "b.py", more="# more\n")
    record = request_log_path(done.path)
    assert files_of(ready(folder, "Second?")) == ["a.py", "b.py", "c.py", "b.py*"]
    assert files_of(
        ready(folder, "?", ModelSelection(provider="scripted", model="claude-opus-5"))
    ) == ["a.py", "b.py", "c.py"]
    assert files_of(ready(folder, "?", ModelSelection(persona="brief"))) == ["a.py", "b.py", "c.py"]
    os.utime(record, (record.stat().st_atime, record.stat().st_mtime - 3601))
    assert files_of(ready(folder, "Second?")) == ["a.py", "b.py", "c.py"]
    os.utime(record)
    done.path.write_text("edited", encoding="utf-8")
    assert files_of(ready(folder, "Second?")) == ["a.py", "b.py", "c.py"]


@pytest.mark.parametrize("is_deleted", [True, False])
def test_a_file_that_left_the_project_is_not_sent_again(folder: Path, is_deleted: bool) -> None:
    """Neither its older version nor a diff, where it takes too much, or was taken out and is still there (C-1)."""
    say(folder, "First?")
    edit(folder, "a.py", more="# more\n")
    say(folder, "Second?")
    if is_deleted:
        (folder / "src" / "a.py").unlink()
    else:
        config = folder / "manual_slop.toml"
        text = config.read_text(encoding="utf-8")
        config.write_text(text.replace("[files]", '[files]\nexclude = ["a.py"]'), encoding="utf-8")
    made, _ = say(folder, "Third?")
    assert files_of(made) == ["b.py", "c.py"]
    assert "# a\n" not in made.plan.text


@pytest.mark.parametrize("budget", [None, 60_000])
def test_a_renamed_file_leaves_its_place(folder: Path, budget: int | None) -> None:
    """It is told that the old one is gone, the new one stands behind, and all that was sent is read (C-1, B-9)."""
    choice = replace(SCRIPTED, budget=budget)
    (folder / "src" / "aa.py").write_text(f"# aa\n{CODE[:2000]}", encoding="utf-8")
    first, _ = say(folder, "Why does it wait? " * 800, choice)
    (folder / "src" / "aa.py").rename(folder / "src" / "bb.py")
    made, done = say(folder, "Second?", choice)
    assert files_of(made)[:4] == files_of(first)
    assert {"aa.py*", "bb.py*"} == set(files_of(made)[4:])
    assert "### File src/aa.py (gone)\n\nIt is no longer there.\n\n" in made.plan.text
    assert done.reply.usage.cache_read > 0.9 * first.plan.total
    later, done = say(folder, "Third?", choice)
    assert files_of(later)[:4] == files_of(first)
    assert done.reply.usage.cache_read > 0.9 * made.plan.total


def test_a_failure_leaves_the_discussion_as_it_was(folder: Path) -> None:
    """The prompt is there, the turns are not; an empty answer is a failure too."""
    with pytest.raises(ProviderError, match="answered 400"):
        send_turn(ready(folder, "First?", answer=ProviderError("x answered 400: no")))
    with pytest.raises(
        ProviderError, match=r"answered nothing \(end\): the discussion stays unchanged"
    ):
        send_turn(ready(folder, "First?", answer=" \n"))
    assert not (folder / "manual_slop_history.toml").exists()
    prompts = sorted((folder / "md_gen").glob("demo_*.md"))
    assert len(prompts) == 2
    # Both can be compared; of the first one, which nobody has answered, no cache is expected to hold anything.
    assert [bool(logged.provider) for logged in map(read_request, prompts) if logged] == [
        False,
        True,
    ]


def test_a_turn_that_is_asked_once_more_takes_the_place_of_the_old_one(folder: Path) -> None:
    """Only once there is an answer; a failure, and another process that has gone on, leave all as it was (S-7)."""
    say(folder, "First?")
    path = folder / "manual_slop_history.toml"
    loaded = load_config(folder / "manual_slop.toml")
    old = turns_in(path)
    replaces = [turn for turn in old if isinstance(turn, dict)]
    again = prepare_turn(loaded, "First?", SCRIPTED, replaces=replaces)
    before = path.read_bytes()
    failing = scripted([ProviderError("overloaded")], model=again.client.model)
    with pytest.raises(ProviderError):
        send_turn(replace(again, client=failing))
    assert path.read_bytes() == before
    send_turn(replace(again, client=scripted(["No."])))
    assert [turn["content"] for turn in turns_in(path) if isinstance(turn, dict)] == [
        "First?",
        "No.",
    ]
    with pytest.raises(OutputError, match="the new answer was not written to it") as error:
        send_turn(again)
    assert "the answer is in" in error.value.__notes__[0]
    with pytest.raises(ConfigError, match="nothing is asked again"):
        prepare_turn(loaded, "First?", SCRIPTED, replaces=replaces)


def test_a_persona_chooses_model_instructions_and_strategy(folder: Path) -> None:
    """Its system prompt stands before the prompt, its strategy goes before the configuration's."""
    made, _ = say(folder, "First?", ModelSelection(persona="reviewer"))
    assert (made.client.provider, made.client.model) == ("scripted", "claude-opus-4-5")
    assert made.plan.system == "Review it."
    assert made.prompt.markdown.startswith("## Files (Summary)")
    other, _ = say(folder, "Second?", ModelSelection(persona="reviewer", model="claude-sonnet-5"))
    assert other.client.model == "claude-sonnet-5"


def test_a_prompt_that_is_too_long_says_what_would_fit(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the tokens that would."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "xdg"))
    by_user('[models.small]\nwindow = "40k"\n')
    (folder / "src" / "big.py").write_text("value = [1, 2, 3]\n" * 4_000, encoding="utf-8")
    config = load_config(folder / "manual_slop.toml")
    choice = ModelSelection(provider="scripted", model="small")
    with pytest.raises(PromptTooLongError, match=r"at most 24,000 would fit") as caught:
        prepare_turn(config, "?", choice)
    assert caught.value.window == 40_000
    assert not (folder / "md_gen").exists()


def test_a_project_that_is_no_file_keeps_no_discussion(folder: Path) -> None:
    """Its caller keeps the turns, and hands them over with the next message."""
    tables = {
        "files": {"base_dir": str(folder), "paths": ["src/a.py"]},
        "output": {"output_dir": str(folder / "out")},
    }
    made = prepare_turn(open_project(tables), "First?", SCRIPTED)
    done = send_turn(made)
    assert (done.history, done.path.parent) == (None, folder / "out")
    turns = [{"role": "User", "content": "First?"}, {"role": "AI", "content": done.reply.text}]
    again = prepare_turn(open_project({**tables, "history": turns}), "Second?", SCRIPTED)
    assert again.prefix is not None
    assert again.prefix.where == ""


def test_a_refusal_is_no_turn(folder: Path) -> None:
    """It fails, the discussion stays unchanged, its words are kept in the answer's file, and the cache is accounted for."""
    refused = Reply("I will not.", Usage(), FinishReason.REFUSED)
    with pytest.raises(
        ProviderError, match=r"scripted refused to answer \(I will not\.\): the discussion stays"
    ) as caught:
        send_turn(ready(folder, "First?", answer=refused))
    assert caught.value.__notes__ == [f"the answer is in {folder / 'md_gen' / 'demo_001.reply.md'}"]
    assert (folder / "md_gen" / "demo_001.reply.md").read_text(encoding="utf-8") == "I will not."
    assert not (folder / "manual_slop_history.toml").exists()
    assert read_request(folder / "md_gen" / "demo_001.md") is not None
    in_a_field = Reply("", Usage(), FinishReason.REFUSED, raw={"refusal": "No."})
    with pytest.raises(ProviderError, match=r"refused to answer \(No\.\)"):
        send_turn(ready(folder, "Second?", answer=in_a_field))
    assert (folder / "md_gen" / "demo_002.reply.md").read_text(encoding="utf-8") == "No."


@pytest.mark.parametrize(
    ("sent", "read", "warned"),
    [
        (9000, 4096, True), (4200, 4096, False), (4400, 4096, True), (9000, 7500, False), (9000, 5900, True),
        (9000, 8192, True), (9000, 0, False), (9000, 12_000, False), (400, 100, False),
    ],
)  # fmt: skip
def test_when_a_prompt_was_cut(sent: int, read: int, warned: bool) -> None:
    """Vocabularies differ, so only much too few tokens count, or just a window's number of them."""
    assert bool(truncation_warning(sent, read, "x")) is warned


def test_screenshots_are_sent_as_images(folder: Path) -> None:
    """Images in the plan, counted; what is no image, too large or outside is only named, with a warning each."""
    (folder / "shots").mkdir()
    (folder / "shots" / "a.png").write_bytes(png(1000, 1000))
    (folder / "shots" / "b.png").write_text("no image", encoding="utf-8")
    (folder.parent / "c.png").write_bytes(png(10, 10))
    config = folder / "manual_slop.toml"
    names = '"shots/*.png", "gone.png"'
    text = config.read_text(encoding="utf-8")
    plain = ready(folder, "Why?").plan.total
    config.write_text(f"{text}\n[screenshots]\npaths = [{names}]\n", encoding="utf-8")
    made = ready(folder, "Why?")
    images = [block for block in made.plan.blocks if block.image]
    assert [block.image and block.image.path for block in images] == ["shots/a.png"]
    assert made.plan.total - plain > sum(block.tokens for block in images) == 1296
    assert made.plan.text == made.prompt.markdown
    assert made.warnings == (
        "screenshot gone.png: file not found",
        "screenshot shots/b.png is only named in the prompt: not a PNG, JPEG, GIF or WebP image",
    )
    config.write_text(f'{text}\n[screenshots]\npaths = ["../c.png"]\n', encoding="utf-8")
    with pytest.raises(ScopeError, match="outside the project"):
        ready(folder, "Why?")


def test_images_count_towards_a_budget(folder: Path) -> None:
    """The whole request keeps to the budget, images included (B-10)."""
    (folder / "a.png").write_bytes(png(2000, 2000))
    config = folder / "manual_slop.toml"
    text = config.read_text(encoding="utf-8")
    config.write_text(f'{text}\n[screenshots]\npaths = ["a.png"]\n', encoding="utf-8")
    made = ready(folder, "name_7", replace(SCRIPTED, budget=12_000))
    assert made.plan.has_images
    assert 8_000 < made.plan.total <= 12_000
