"""Who is asked where an option, a persona and the tables ``[send]`` of project and user may say so."""

from pathlib import Path

import pytest

from aggregate import Client, ClientSetupError, ConfigError, load_config, open_project
from aggregate.sending import Exchange, ModelSelection, prepare_turn, select_model
from tests.fakes.user_files import by_user
from tests.projects import project

MAKERS = ("ANTHROPIC", "OPENAI", "DEEPSEEK", "MINIMAX", "AGGREGATE")
KEYS = {f"{maker}_API_KEY": "secret" for maker in MAKERS}


@pytest.fixture(autouse=True)
def _no_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test be of a user who has configured nothing yet."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))


def selected(tmp_path: Path, text: str = "", **named: str) -> ModelSelection:
    """Return what is chosen in a project with this configuration."""
    return select(tmp_path, text, **named)[1]


def select(tmp_path: Path, text: str = "", **named: str) -> tuple[Client, ModelSelection]:
    folder = project(tmp_path / "project", {"manual_slop.toml": text})
    selection = ModelSelection(**named)  # type: ignore[arg-type]
    return select_model(load_config(folder / "manual_slop.toml"), selection, environ=KEYS)


def asked(tmp_path: Path, text: str = "", **named: str) -> tuple[str, str]:
    """Return the provider and the model that are asked."""
    client, _ = select(tmp_path, text, **named)
    return client.provider, client.model


USERS = '[send]\nprovider = "anthropic"\nmodel = "claude-opus-5"\nmax_output = 4000\n'
PROJECTS = '[send]\nprovider = "openai"\nmodel = "gpt-5.7"\n'
ANY = '[personas.any]\nmodel = "gpt-5.7"\n'
GATEWAY = {"provider": "anthropic", "base_url": "https://gateway.example/v1"}
PERSONA = '[personas.p]\nprovider = "deepseek"\nmodel = "deepseek-v4-pro"\n'


@pytest.mark.parametrize(
    ("text", "named", "expected", "origin"),
    [
        ("", {}, ("anthropic", "claude-opus-5"), "[send] of your configuration"),
        (PROJECTS, {}, ("openai", "gpt-5.7"), "[send] of the project"),
        (PROJECTS + PERSONA, {"persona": "p"}, ("deepseek", "deepseek-v4-pro"), 'persona "p"'),
        (PROJECTS + PERSONA, {"persona": "p", "model": "x"}, ("deepseek", "x"), "option"),
        (PROJECTS, {"provider": "minimax"}, ("minimax", "MiniMax-M2.7"), "the provider's usual one"),
        (PROJECTS, {"provider": "anthropic"}, ("anthropic", "claude-opus-5"), "[send] of your configuration"),
        ('[send]\nmodel = "claude-haiku-4-5"', {}, ("anthropic", "claude-haiku-4-5"), "[send] of the project"),
        ('[send]\nmodel = "gpt-5.7"', {}, ("anthropic", "claude-opus-5"), "[send] of your configuration"),
        ('[send]\npersona = "p"\n' + PERSONA, {}, ("deepseek", "deepseek-v4-pro"), 'persona "p"'),
        (ANY, {"provider": "scripted", "persona": "any"}, ("scripted", "gpt-5.7"), 'persona "any"'),
        (ANY, {"persona": "any", **GATEWAY}, ("anthropic", "gpt-5.7"), 'persona "any"'),
    ],
)  # fmt: skip
def test_who_is_asked(
    tmp_path: Path, text: str, named: dict[str, str], expected: tuple[str, str], origin: str
) -> None:
    """An option goes before a persona, that before [send] of the project, that before [send] of the user (S-1)."""
    by_user(USERS)
    client, chosen = select(tmp_path, text, **named)
    assert (client.provider, client.model) == expected
    assert chosen.chosen["model"].source == origin


def test_a_model_tells_its_provider(tmp_path: Path) -> None:
    """Where nobody names a provider, a known model does; one that is unknown does not (S-1)."""
    assert asked(tmp_path, model="claude-opus-5") == ("anthropic", "claude-opus-5")
    with pytest.raises(ClientSetupError, match="no provider is set"):
        asked(tmp_path, model="unheard-of")


def test_a_model_of_another_company_is_refused(tmp_path: Path) -> None:
    """A model that is named for this call does not go to the provider of a default that cannot have it (S-1)."""
    by_user(USERS)
    said = r"anthropic \(\[send\] of your configuration\) does not have the model gpt-5.7: add --provider openai"
    with pytest.raises(ClientSetupError, match=said):
        asked(tmp_path, model="gpt-5.7")
    said = 'anthropic does not have the model gpt-5.7 of persona "any": add --model, or use --provider openai'
    with pytest.raises(ClientSetupError, match=f"^{said}$"):
        asked(tmp_path, ANY, persona="any")
    by_user('[send]\nprovider = "compatible"\nbase_url = "http://localhost:1/v1"\n')
    assert asked(tmp_path, model="gpt-oss:20b") == ("compatible", "gpt-oss:20b")


def test_an_address_alone_is_of_no_default_provider(tmp_path: Path) -> None:
    """``--base-url`` without a provider means a server of one's own, whatever [send] says: no key goes there (S-2)."""
    by_user(USERS)
    address = "http://localhost:1/v1"
    assert asked(tmp_path, PROJECTS, base_url=address, model="m") == ("compatible", "m")


def test_what_a_project_decides_is_said(tmp_path: Path) -> None:
    """Provider, model, persona, budget and length of the answer from a project's file are one warning (S-2)."""
    text = '[send]\nprovider = "anthropic"\nmax_output = 64000\nbudget = "100k"\n'
    chosen = selected(tmp_path, text)
    assert chosen.max_output == 64_000
    assert chosen.warnings == (
        "chosen by the project's own configuration: provider anthropic, model claude-sonnet-5, "
        "max_output 64000, budget 100000",
    )
    by_user(text)
    assert selected(tmp_path).warnings == ()
    assert selected(tmp_path, text, provider="openai").warnings == (
        "chosen by the project's own configuration: max_output 64000, budget 100000",
    )


def test_a_hosts_own_mapping_is_not_said() -> None:
    """A host that passes a mapping has written it itself (S-2)."""
    mapping = open_project({"send": {"provider": "scripted", "model": "claude-opus-5"}})
    client, chosen = select_model(mapping, ModelSelection())
    assert (client.model, chosen.warnings) == ("claude-opus-5", ())


@pytest.mark.parametrize(
    "text",
    [
        '[send]\nprovider = "anthropic"\nbase_url = "http://localhost:1"\n',
        '[send]\nprovider = "compatible"\nmodel = "m"\nbase_url = "https://evil.example/v1"\n',
        '[send]\nmodel = "m"\nbase_url = "https://evil.example/v1"\n',
        '[send]\nmodel = "m"\nbase_url = "http://a b/v1"\n',  # one that cannot be read
    ],
)
def test_a_project_names_no_address(tmp_path: Path, text: str) -> None:
    """An address from a project's [send] is refused but for a server on this machine (S-2)."""
    with pytest.raises(
        ConfigError, match=r"send\.base_url|table \[send\]|that cannot be read, which you"
    ):
        asked(tmp_path, text)


def test_an_address_on_this_machine_gets_no_key(tmp_path: Path) -> None:
    """A project may name a local server, which gets no key, and it is said (S-2)."""
    text = '[send]\nmodel = "m"\nbase_url = "http://localhost:1/v1"\n'
    assert any("without a key" in said for said in selected(tmp_path, text).warnings)
    by_user(text)
    assert not any("without a key" in said for said in selected(tmp_path, text).warnings)


def prepared(tmp_path: Path, text: str, budget: str | None = None) -> Exchange:
    folder = project(tmp_path / "project", {"manual_slop.toml": text, "a.py": "x = 1\n"})
    selection = ModelSelection("scripted", budget=budget)
    return prepare_turn(load_config(folder / "manual_slop.toml"), "?", selection)


@pytest.mark.parametrize(
    ("text", "users", "option", "expected"),
    [
        ("", "4k", None, 4_000),
        ('[budget]\ntokens = "5k"\n', "4k", None, 5_000),
        ('[budget]\ntokens = "5k"\n[send]\nbudget = "6k"\n', "4k", None, 6_000),
        ('[send]\nbudget = "6k"\n', "4k", "7k", 7_000),
        (
            '[project]\nactive_preset = "b"\n[send]\nbudget = "6k"\n'
            '[context_presets.b]\nbudget = "8k"\nfiles = ["a.py"]\n',
            "4k",
            None,
            8_000,
        ),
    ],
)
def test_budgets(tmp_path: Path, text: str, users: str, option: str | None, expected: int) -> None:
    """An option, a preset, [send] of the project, its [budget], [send] of the user: the first one holds (S-1)."""
    by_user(f'[send]\nbudget = "{users}"\n')
    assert prepared(tmp_path, text, option).budget == expected


def test_effort(tmp_path: Path) -> None:
    """It follows the same order, and what a project decides of it is said (S-1, S-2)."""
    by_user('[send]\nprovider = "scripted"\neffort = "low"\n')
    text = '[send]\neffort = "high"\n'
    chosen = selected(tmp_path, text)
    assert chosen.effort == "high"
    assert chosen.chosen["effort"].source == "[send] of the project"
    assert chosen.warnings == ("chosen by the project's own configuration: effort high",)
    assert selected(tmp_path).effort == "low"
