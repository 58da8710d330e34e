"""Configurations that are made to take for ever, or to break the program that explains them."""

import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aggregate import ConfigError, ContextPreset, ContextPresetManager, FileItem, load_config
from tests.cli.command_line import program_environment

SECONDS = 10
"""A generous deadline: each takes below 2 s of processor time, and took minutes before."""


def numbers(count: int) -> str:
    """Return entries of a wrong type."""
    return "[files]\npaths = [" + "1," * count + "]"


def turns(count: int) -> str:
    """Return turns with an unknown key."""
    return "history = [" + "{a=1}," * count + "]"


def keys(count: int) -> str:
    """Return keys that do not exist."""
    return "".join(f"a{i}=1\n" for i in range(count))


def tables(count: int) -> str:
    """Return tables whose names have as many parts as are allowed."""
    return "".join("[" + ".".join([f"b{i}", *"aaaaa"]) + "]\n" for i in range(count))


NO_TOML = ": is not valid TOML: "
LONG_KEY = NO_TOML + "a key has more than 6 parts (at line 1)"
LONG_NUMBER = NO_TOML + "a number or name has more than 1,000 characters (at line "
DEEP = NO_TOML + "the TOML is nested too deeply"
ATTACKS: dict[str, tuple[str, str]] = {
    "entries with a key that does not exist": (
        "[files]\npaths = [" + "{ path = 'a', view = 1 },\n" * 10_000 + "]",
        ':2: unknown key "files.paths[0].view": did you mean "view_mode"?',
    ),
    "entries of a wrong type": (numbers(50_000), ':2: "files.paths[0]": input should be a valid dictionary'),
    "turns": (turns(20_000), ':1: unknown key "history[0].a": the keys of [history[0]]: content, role'),
    "keys": (keys(20_000), ':1: unknown key "a0": the keys of the file: budget, conduct, context_presets'),
    "a key of many parts": (".".join("a" * 50_000) + " = 1", LONG_KEY),
    "a quoted key of many parts": ("[" + " . ".join(['"a"'] * 50_000) + "]", LONG_KEY),
    "tables": (tables(5_000), ':1: unknown key "b0": the keys of the file: '),
    "a number that Python does not read": ("a = " + "9" * 5_000, LONG_NUMBER + "1)"),
    "a number that Python does not write": ("[[files.paths]]\npath = 'a'\ntier = 0x" + "f" * 5_000, LONG_NUMBER + "3)"),
    "lists in lists": ("a = " + "[" * 100_000 + "]" * 100_000, DEEP),
    "tables in tables": ("a = " + "{a=" * 20_000 + "1" + "}" * 20_000, DEEP),
    "strings that never end": ('a = """' + '\\"""' * 150_000, NO_TOML + "Unterminated string"),
    "more than is read": ("#\n" * 3_000_000, ": cannot be read: too large: 6,000,000 bytes, the limit is 750,000"),
    "a value that would fill the screen": (
        "[project]\nsummary_only = '" + "x" * 400_000 + "'",
        ":2: \"project.summary_only\": input should be a valid boolean, unable to interpret input, not 'xxx",
    ),
    "a name that validation uses": ("text = 1", ':1: unknown key "text": the keys of the file: '),
    "a path that no system call takes": (
        '[files]\nbase_dir = "a\\u0000b"', ':2: "files.base_dir": must be a path, without null characters'
    ),
    "a path that no file system takes": (
        f"[screenshots]\npaths = ['{'n' * 300}']",
        ':2: "screenshots.paths[0]": must be a path, with at most 4,000 bytes and 255 between two slashes',
    ),
    "a name that leaves no room for a number": (
        f"[output]\nnamespace = '{'n' * 250}'",
        ':2: "output.namespace": must have at most 200 bytes, to be part of file names',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "said"), ATTACKS.values(), ids=ATTACKS.keys())
def test_a_hostile_configuration_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    """Whatever a configuration holds, it is refused within seconds by one short line that says where."""
    path = tmp_path / "manual_slop.toml"
    path.write_text(text, encoding="utf-8")
    began = time.process_time()
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}{said}")
    assert len(sentence) < len(str(path)) + 500
    assert "\n" not in sentence
    assert time.process_time() - began < SECONDS


@pytest.mark.slow
@pytest.mark.parametrize("text", [numbers(370_000), turns(120_000), keys(80_000), tables(40_000)], ids=["numbers", "turns", "keys", "tables"])  # fmt: skip
def test_the_largest_configuration_is_refused_as_quickly(tmp_path: Path, text: str) -> None:
    """As many mistakes as fit into the size that is read take no longer."""
    test_a_hostile_configuration_is_one_sentence(tmp_path, text, "")


def test_every_form_of_a_turn_keeps_its_keys(tmp_path: Path) -> None:
    """Names that validation uses itself are left out of a message only where it has put them."""
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
    (tmp_path / "manual_slop.toml").write_text(numbers(370_000), encoding="utf-8")
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
