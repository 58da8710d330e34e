"""Configurations that are made to take for ever, or to break the program that explains them."""

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from aggregate.base.errors import ConfigError
from tests.cli.command_line import program_environment

SECONDS = 10
"""A generous deadline: each takes below 2 s of processor time, and took minutes before."""


def bad_entries() -> str:
    """Ten thousand entries, each with a key that does not exist."""
    return "[files]\npaths = [" + "{ path = 'a', view = 1 },\n" * 10_000 + "]"


def bad_numbers(count: int = 50_000) -> str:
    """Entries of a wrong type, up to as many as the size allows."""
    return "[files]\npaths = [" + "1," * count + "]"


def bad_turns(count: int = 20_000) -> str:
    """Turns with an unknown key, up to as many as the size allows."""
    return "history = [" + "{a=1}," * count + "]"


def unknown_keys(count: int = 20_000) -> str:
    """Keys that do not exist, up to as many as the size allows."""
    return "".join(f"a{i}=1\n" for i in range(count))


def long_key() -> str:
    """A key with 50,000 parts: the parser walks through all of them for each."""
    return ".".join("a" * 50_000) + " = 1"


def long_quoted_key() -> str:
    """The same key with quotes and blanks, as a table."""
    return "[" + " . ".join(['"a"'] * 50_000) + "]"


def many_long_tables(count: int = 5_000) -> str:
    """Many tables whose names have as many parts as are allowed."""
    return "".join("[" + ".".join([f"b{i}", *"aaaaa"]) + "]\n" for i in range(count))


def long_number() -> str:
    """An integer that Python refuses to read."""
    return "a = " + "9" * 5_000


def long_hexadecimal() -> str:
    """An integer that Python reads, but cannot write into a message."""
    return "[[files.paths]]\npath = 'a'\ntier = 0x" + "f" * 5_000


def deep_lists() -> str:
    """Lists in lists."""
    return "a = " + "[" * 100_000 + "]" * 100_000


def deep_tables() -> str:
    """Tables in tables."""
    return "a = " + "{a=" * 20_000 + "1" + "}" * 20_000


def quotes() -> str:
    """Quotes that begin strings and never end them."""
    return 'a = """' + '\\"""' * 150_000


def huge() -> str:
    """More than any configuration has."""
    return "#\n" * 3_000_000


def long_value() -> str:
    """A value that would fill the screen."""
    return "[project]\nsummary_only = '" + "x" * 400_000 + "'"


def keys_of_our_own() -> str:
    """A key that is called as the validation calls one form of a turn."""
    return "text = 1"


def null_character() -> str:
    """A path that no system call takes."""
    return '[files]\nbase_dir = "a\\u0000b"'


def long_path() -> str:
    """A path that no file system takes."""
    return f"[screenshots]\npaths = ['{'n' * 300}']"


def long_name() -> str:
    """A name that leaves no room for a number."""
    return f"[output]\nnamespace = '{'n' * 250}'"


ATTACKS: list[tuple[Callable[[], str], str]] = [
    (bad_entries, ':2: unknown key "files.paths[0].view": did you mean "view_mode"?'),
    (bad_numbers, ':2: "files.paths[0]": input should be a valid dictionary'),
    (bad_turns, ':1: unknown key "history[0].a": known keys of [history[0]]: content, role'),
    (
        unknown_keys,
        ':1: unknown key "a0": known keys of the file: budget, conduct, context_presets',
    ),
    (long_key, ": is no valid TOML: a key has more than 6 parts (at line 1)"),
    (long_quoted_key, ": is no valid TOML: a key has more than 6 parts (at line 1)"),
    (many_long_tables, ':1: unknown key "b0": known keys of the file: '),
    (
        long_number,
        ": is no valid TOML: a number or name has more than 1,000 characters (at line 1)",
    ),
    (
        long_hexadecimal,
        ": is no valid TOML: a number or name has more than 1,000 characters (at line 3)",
    ),
    (deep_lists, ": is no valid TOML: it is nested too deeply"),
    (deep_tables, ": is no valid TOML: it is nested too deeply"),
    (quotes, ": is no valid TOML: Unterminated string"),
    (huge, ": cannot be read: too large: 6,000,000 bytes, the most is 750,000"),
    (
        long_value,
        ':2: "project.summary_only": input should be a valid boolean, unable to interpret input, not \'xxx',
    ),
    (keys_of_our_own, ':1: unknown key "text": known keys of the file: '),
    (null_character, ':2: "files.base_dir": must be a path, which holds no null character'),
    (
        long_path,
        ':2: "screenshots.paths[0]": must be a path, of at most 4,000 bytes and 255 between two slashes',
    ),
    (
        long_name,
        ':2: "output.namespace": must have at most 200 bytes, so that file names can begin with it',
    ),
]


@pytest.mark.parametrize(
    ("attack", "said"), ATTACKS, ids=[attack.__name__ for attack, _ in ATTACKS]
)
def test_a_hostile_configuration_is_one_sentence(
    tmp_path: Path, attack: Callable[[], str], said: str
) -> None:
    """Whatever a configuration holds, it is refused within seconds by one short line that says where."""
    from aggregate import load_config

    path = tmp_path / "manual_slop.toml"
    path.write_text(attack(), encoding="utf-8")
    began = time.process_time()
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}{said}")
    assert len(sentence) < len(str(path)) + 500
    assert "\n" not in sentence
    assert time.process_time() - began < SECONDS


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [bad_numbers(370_000), bad_turns(120_000), unknown_keys(80_000), many_long_tables(40_000)],
    ids=["numbers", "turns", "keys", "tables"],
)
def test_the_largest_configuration_is_refused_as_quickly(tmp_path: Path, text: str) -> None:
    """As many mistakes as fit into the size that is read take no longer."""
    test_a_hostile_configuration_is_one_sentence(tmp_path, lambda: text, "")


def test_every_form_of_a_turn_keeps_its_keys(tmp_path: Path) -> None:
    """Names that validation uses itself are left out of a message only where it has put them."""
    from aggregate import load_config

    path = tmp_path / "m.toml"
    for text, key in [
        ("history = [{ text = 1 }]", "history[0].text"),
        ("history = [1]", "history[0]"),
        ("[discussion]\nhistory = [{ turn = 1 }]", "discussion.history[0].turn"),
        ("[context_presets.text]\nturn = 1", "context_presets.text.turn"),
        ("[files]\npaths = [{ path = 'a', text = 1 }]", "files.paths[0].text"),
        ("turn = 1", "turn"),
    ]:
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError) as caught:
            load_config(path)
        assert caught.value.key == key


def test_a_preset_that_could_not_be_loaded_is_not_stored(tmp_path: Path) -> None:
    """What would make the configuration unusable is refused before the file is touched."""
    from aggregate import FileItem
    from aggregate.base.values import ContextPreset
    from aggregate.project.presets import ContextPresetManager

    manager = ContextPresetManager(tmp_path / "m.toml")
    manager.save_preset(ContextPreset("good", [FileItem("a.py")]))
    before = manager.project_path.read_bytes()
    for path in ("a\0b", "n" * 300, "half \ud800"):
        with pytest.raises(ConfigError):
            manager.save_preset(ContextPreset("bad", [FileItem(path)]))
    assert manager.project_path.read_bytes() == before


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(resource, "RLIMIT_DATA"), reason="memory cannot be limited here")
def test_bad_entries_take_no_memory_to_speak_of(tmp_path: Path) -> None:
    """The whole program explains them within 400 MB."""
    (tmp_path / "manual_slop.toml").write_text(bad_numbers(370_000), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "aggregate", "-q"],
        cwd=tmp_path,
        env=program_environment(tmp_path),
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (400_000_000, 400_000_000)),
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1
