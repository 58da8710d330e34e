"""One turn of a discussion: composed, planned, sent, kept."""

from dataclasses import replace
from pathlib import Path

import pytest

from aggregate import build_discussion_text, build_file_items, build_markdown_no_history, load_config
from aggregate.clients.scripted import Scripted, scripted
from aggregate.compose.journal import read_run
from aggregate.errors import ConfigError, PromptTooLongError, ProviderError
from aggregate.models.usage import Usage
from aggregate.send import Choice, Delivered, Prepared, deliver, prepare
from aggregate.sources.history import load_history
from tests.project import project

SCRIPTED = Choice(provider="scripted")
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
    [personas.elsewhere]
    provider = "anthropic"
    base_url = "http://127.0.0.1:9"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a project of three files."""
    files = {f"src/{name}.py": f"# {name}\n{CODE}" for name in "abc"}
    return project(tmp_path, {"manual_slop.toml": CONFIG} | files)


def ready(folder: Path, message: str, choice: Choice = SCRIPTED, *, answer: object = "Yes.") -> Prepared:
    """Prepare a turn that will be answered with ``answer``."""
    made = prepare(load_config(folder / "manual_slop.toml"), message, choice)
    transport = made.client.transport
    assert isinstance(transport, Scripted)
    return replace(made, client=scripted([answer], cache=transport.cache, model=made.client.model))  # type: ignore[list-item]


def say(folder: Path, message: str, choice: Choice = SCRIPTED, *, answer: str = "Yes.") -> tuple[Prepared, Delivered]:
    """Prepare and deliver a turn."""
    made = ready(folder, message, choice, answer=answer)
    return made, deliver(made, load_config(folder / "manual_slop.toml"))


def test_the_request_is_the_file_and_the_file_is_the_public_text(folder: Path) -> None:
    """The text that is sent equals the numbered file, and the static part plus the discussion equal both (M-10, M-11)."""
    say(folder, "First?")
    made, done = say(folder, "Second?")
    written = Path(done.path).read_text(encoding="utf-8")
    assert made.plan.text == written == made.prompt.markdown
    history = [*load_history(folder / "manual_slop_history.toml")[:-2], {"role": "User", "content": "Second?"}]
    static = build_markdown_no_history(build_file_items(folder, ["src/*.py"]), folder, [])
    assert written == static + "\n\n" + build_discussion_text(history)


def test_both_turns_are_kept(folder: Path) -> None:
    """Question and answer are added to the discussion; the prompts are numbered."""
    _, first = say(folder, "First?", answer="One.\n")
    _, second = say(folder, "Second?", answer="Two.")
    assert [Path(one.path).name for one in (first, second)] == ["demo_001.md", "demo_002.md"]
    roles = [("User", "First?"), ("AI", "One.\n"), ("User", "Second?"), ("AI", "Two.")]
    assert load_history(Path(second.history)) == [{"role": role, "content": text} for role, text in roles]


def test_the_second_turn_reads_the_first(folder: Path) -> None:
    """What was sent is read from the cache, across two calls that know of each other by the record only."""
    first, _ = say(folder, "First?")
    second, done = say(folder, "Second?")
    total = first.plan.total
    assert abs(done.reply.usage.cache_read - total) <= 1
    assert second.expected == replace(done.reply.usage, output=0)
    assert second.report is not None
    assert second.report.sentence == f"{total:,} of {total:,} tokens of the prefix are kept (appended)"


def test_a_changed_file_is_named_and_moves_behind_the_others(folder: Path) -> None:
    """The report names it; it is sent last, because it is the likeliest to change again."""
    say(folder, "First?")
    path = folder / "src" / "b.py"
    path.write_text(path.read_text(encoding="utf-8") + "# more\n", encoding="utf-8")
    made, done = say(folder, "Second?")
    assert made.report is not None
    assert (made.report.cause.value, made.report.where) == ("changed", "src/b.py")
    assert [one.source for one in made.prompt.segments if one.source.startswith("src/")] == [
        f"src/{name}.py" for name in "acb"
    ]
    assert done.reply.usage.cache_read > 0
    again, _ = say(folder, "Third?")
    assert again.report is not None
    assert again.report.cause.value == "appended"


def test_the_record_is_read_back(folder: Path) -> None:
    """What was sent, to whom, with which breakpoints."""
    made, done = say(folder, "First?")
    run = read_run(Path(done.path))
    assert run is not None
    assert run.sent is not None
    assert (run.chain, run.sent.provider, run.sent.model) == (made.chain, "scripted", "claude-sonnet-5")
    assert (run.sent.ends, run.sent.marks) == (made.plan.layout.ends, made.plan.layout.marks)


def test_a_failure_leaves_the_discussion_as_it_was(folder: Path) -> None:
    """The prompt is there, the turns are not; an empty answer is a failure too."""
    config = load_config(folder / "manual_slop.toml")
    with pytest.raises(ProviderError, match="answered 400"):
        deliver(ready(folder, "First?", answer=ProviderError("x answered 400: no")), config)
    with pytest.raises(ProviderError, match=r"answered nothing \(end\): the discussion stays as it was"):
        deliver(ready(folder, "First?", answer=" \n"), config)
    assert not (folder / "manual_slop_history.toml").exists()
    assert len(list((folder / "md_gen").glob("demo_*.md"))) == 2


def test_a_persona_chooses_model_instructions_and_strategy(folder: Path) -> None:
    """Its system prompt stands before the prompt, its strategy goes before the configuration's."""
    made, _ = say(folder, "First?", Choice(persona="reviewer"))
    assert (made.client.provider, made.client.model) == ("scripted", "claude-opus-4-5")
    assert made.plan.system == "Review it."
    assert made.prompt.markdown.startswith("## Files (Summary)")
    other, _ = say(folder, "Second?", Choice(persona="reviewer", model="claude-sonnet-5"))
    assert other.client.model == "claude-sonnet-5"


def test_unknown_personas_are_refused(folder: Path) -> None:
    """The error lists those that there are."""
    config = load_config(folder / "manual_slop.toml")
    with pytest.raises(ConfigError, match='there is no persona "nobody": known are elsewhere, reviewer'):
        prepare(config, "?", Choice(persona="nobody"))


def test_a_projects_persona_cannot_send_a_key_elsewhere(folder: Path) -> None:
    """An address in a file that came with a project is not given a provider's key."""
    config = load_config(folder / "manual_slop.toml")
    with pytest.raises(ConfigError, match="may name an address for compatible only"):
        prepare(config, "?", Choice(persona="elsewhere"), environ={"ANTHROPIC_API_KEY": "k"})


def test_a_prompt_that_is_too_long_says_what_would_fit(folder: Path) -> None:
    """The error counts the same project in summaries."""
    (folder / "src" / "big.py").write_text("value = [1, 2, 3]\n" * 30_000, encoding="utf-8")
    config = load_config(folder / "manual_slop.toml")
    choice = Choice(provider="scripted", model="MiniMax-M2.7")
    summarised = r'with aggregation_strategy = "summarize" it has [\d,]+ tokens and fits'
    with pytest.raises(PromptTooLongError, match=summarised) as caught:
        prepare(config, "?", choice)
    assert caught.value.window == 204_800
    assert not (folder / "md_gen").exists()


def test_preparing_writes_nothing(folder: Path) -> None:
    """Nothing is written before the turn is delivered."""
    before = sorted(folder.rglob("*"))
    made = ready(folder, "First?")
    assert sorted(folder.rglob("*")) == before
    assert made.expected == Usage(cache_write=made.plan.total)
