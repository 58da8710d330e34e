"""Context presets in TOML."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tests.base.test_values import values
from tests.cli.command_line import start
from tests.projects import project

from aggregate import (
    AggregateError,
    ConfigError,
    ContextPreset,
    ContextPresetManager,
    FileItem,
    run,
)

USERS = """\
# My project.
[project]
name = "demo"   # the name

[files]
paths = [
  "a.py", # first
]

[context_presets.old]
files = ["a.py"]
"""


@pytest.fixture
def manager(tmp_path: Path) -> ContextPresetManager:
    """A manager with a project and a global file."""
    project(tmp_path, {"manual_slop.toml": USERS, "a.py": "", "b.py": ""})
    return ContextPresetManager(
        tmp_path / "manual_slop.toml", tmp_path / "global" / "manual_slop.toml"
    )


def test_saving_keeps_the_rest_of_the_file(manager: ContextPresetManager) -> None:
    """Comments, order and spacing of the file stay byte for byte (M-43)."""
    new = ContextPreset("new", [FileItem("b.py", view_mode="skeleton")], ["s.png"], "two files")
    manager.save_preset(new)
    text = manager.project_path.read_text(encoding="utf-8")
    assert text.startswith(USERS)
    assert text.removeprefix(USERS) == dedent(
        """\

        [context_presets.new]
        description = "two files"
        files = [
            {path = "b.py", view_mode = "skeleton"},
        ]
        screenshots = ["s.png"]
        """
    )
    assert list(manager.load_all()) == ["old", "new"]


def test_deleting_undoes_saving(manager: ContextPresetManager) -> None:
    """Saving and deleting restores the file (M-43)."""
    manager.save_preset(ContextPreset("new"))
    manager.delete_preset("new")
    assert manager.project_path.read_text(encoding="utf-8").rstrip() == USERS.rstrip()
    with pytest.raises(AggregateError, match='no such context preset: "new": use one of old'):
        manager.delete_preset("new")


def test_a_project_preset_hides_the_global_one(manager: ContextPresetManager) -> None:
    """A project preset hides a global one until it is deleted (M-43)."""
    manager.save_preset(ContextPreset("old", ["b.py"]), scope="global")  # type: ignore[list-item]
    manager.save_preset(ContextPreset("shared", ["b.py"]), scope="global")  # type: ignore[list-item]
    assert {
        name: [item.path for item in one.files] for name, one in manager.load_all().items()
    } == {"old": ["a.py"], "shared": ["b.py"]}
    assert manager.scopes() == {"old": "project", "shared": "global"}
    manager.delete_preset("old")
    assert [item.path for item in manager.load_all()["old"].files] == ["b.py"]


def test_applying_makes_it_the_active_composition(manager: ContextPresetManager) -> None:
    """The next run shows the preset's files, not the project's (M-43)."""
    manager.save_preset(ContextPreset("other", ["b.py"]))  # type: ignore[list-item]
    assert manager.apply_preset("other").name == "other"
    _, _, records = run(manager.project_path)
    assert [record["path"] for record in records] == ["b.py"]
    manager.delete_preset("other")
    _, _, records = run(manager.project_path)
    assert [record["path"] for record in records] == ["a.py"]


def test_reloading_warns_of_vanished_files(manager: ContextPresetManager) -> None:
    """Missing files are warnings, unmatched globs are not (M-43)."""
    manager.save_preset(ContextPreset("p", ["gone.py", "*.rs", "a.py"], ["gone.png"]))  # type: ignore[list-item]
    presets, warnings = manager.reload_context_presets()
    assert list(presets) == ["old", "p"]
    assert warnings == [
        'preset "p": gone.py does not exist: restore it or remove it from the preset',
        'preset "p": gone.png does not exist: restore it or remove it from the preset',
    ]


def test_a_link_stays_a_link(manager: ContextPresetManager, tmp_path: Path) -> None:
    """A linked configuration is written through."""
    link = tmp_path / "link.toml"
    link.symlink_to(manager.project_path)
    ContextPresetManager(link).save_preset(ContextPreset("new"))
    assert link.is_symlink()
    assert "[context_presets.new]" in manager.project_path.read_text(encoding="utf-8")


toml_text = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x7f"), min_size=1, max_size=8
)
paths = toml_text.filter(lambda text: "\0" not in text)
items = st.builds(
    FileItem,
    paths,
    **{**values, "ast_mask": st.dictionaries(toml_text, st.just("def"), max_size=2)},
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
@given(
    name=toml_text.filter(str.strip),
    files=st.lists(items, max_size=3),
    description=st.just("") | toml_text,
    budget=st.none() | st.just("auto") | st.integers(1, 1_000_000_000),
)
def test_presets_survive_toml(
    tmp_path: Path, name: str, files: list[FileItem], description: str, budget: int | str | None
) -> None:
    """Any preset loads as saved; values without TOML form are restored (M-43, M-40, M-X10, B-4)."""
    manager = ContextPresetManager(tmp_path / "p.toml")
    preset = ContextPreset(name, files, ["a b.png"], description, budget)
    manager.save_preset(preset)
    assert manager.load_all()[name] == preset


def test_thousands_of_presets_are_listed_in_one_reading(tmp_path: Path) -> None:
    """The files of all presets are found in one reading."""
    path = tmp_path / "manual_slop.toml"
    path.write_text(
        "".join(f"[context_presets.p{number}]\nfiles = []\n" for number in range(200)),
        encoding="utf-8",
    )
    done = start(tmp_path, "preset", "list")
    assert (done.code, done.out.count("project\t0 files")) == (0, 200)
    with pytest.raises(AggregateError, match=r"use one of p0, .*p19 and 180 more$"):
        ContextPresetManager(path).get("nope")


def test_a_budget_that_is_none_is_not_saved(manager: ContextPresetManager) -> None:
    """Any notation of a budget is saved; an invalid one is refused (B-4, B-1)."""
    manager.save_preset(ContextPreset("new", budget="32k"))
    assert manager.get("new").budget == 32_000
    before = manager.project_path.read_bytes()
    with pytest.raises(ConfigError, match=r'"context_presets\.bad\.budget": must be a number of'):
        manager.save_preset(ContextPreset("bad", budget="plenty"))
    assert manager.project_path.read_bytes() == before


def test_changes_at_the_same_moment_lose_nothing(manager: ContextPresetManager) -> None:
    """Concurrent saves, activations and deletions all take effect."""

    def change(name: str) -> None:
        for number in range(3):
            manager.save_preset(ContextPreset(f"{name}{number}"))
        manager.apply_preset("old")
        manager.delete_preset(f"{name}0")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(change, "abcd"))
    assert set(manager.load_all()) == {"old", *(f"{name}{n}" for name in "abcd" for n in (1, 2))}
    assert 'active_preset = "old"' in manager.project_path.read_text(encoding="utf-8")
    with pytest.raises(AggregateError, match="no such context preset"):
        manager.delete_preset("a0")
