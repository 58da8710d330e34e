"""Configurations: errors, and edits of the user's file."""

import json
import tomllib
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from aggregate import AggregateError, ConfigError, load_config, run
from aggregate.project import as_data, json_schema
from aggregate.project.configuration import (
    first_config,
    global_config_path,
    is_trusted,
    set_trust,
    user_config,
    validate,
)
from tests.processes import python

FULL = """\
    history = ["User: before"]

    [project]
    name = "demo"
    summary_only = true
    aggregation_strategy = "full"
    execution_mode = "beads"

    [output]
    namespace = "demo"
    output_dir = "out"

    [files]
    base_dir = "src"
    paths = ["a.py", { path = "b/**/*.py", view_mode = "skeleton", ast_mask = { f = "def" } }]
    exclude = ["*.lock"]

    [task]
    text = "retry twice"

    [budget]
    tokens = "32k"
    most = 100_000
    history = 0.25
    results = 0
    order = "edges"
    tier3 = "auto"

    [personas.ann]
    budget = "1.5m"

    [context_presets.small]
    budget = "8,000"

    [[context_presets.small.files]]
    path = "a.py"
    tier = 3

    [screenshots]
    base_dir = "shots"
    paths = ["*.png"]

    [discussion]
    history = [{ role = "AI", content = "hi" }]
    """


def write(folder: Path, text: str) -> Path:
    path = folder / "manual_slop.toml"
    path.write_text(dedent(text), encoding="utf-8")
    return path


def test_every_documented_key_is_accepted(tmp_path: Path) -> None:
    """All tables and keys of the guide are read, with their types (M-X13)."""
    config = load_config(write(tmp_path, FULL)).config
    assert (config.project.name, config.project.execution_mode) == ("demo", "beads")
    assert [table.path for table in config.files.paths] == ["a.py", "b/**/*.py"]
    assert config.files.paths[1].ast_mask == {"f": "def"}
    assert config.context_presets["small"].files[0].tier == 3
    assert config.history == ["User: before"]
    assert config.task.text == "retry twice"
    budget = config.budget
    assert (budget.tokens, budget.most, budget.tier3) == (32_000, 100_000, "auto")
    assert (budget.history, budget.results, budget.order) == (0.25, 0, "edges")
    assert config.personas["ann"].budget == 1_500_000
    assert config.context_presets["small"].budget == 8_000


def test_a_configuration_survives_being_dumped(tmp_path: Path) -> None:
    """A dumped configuration validates to an equal one."""
    config = load_config(write(tmp_path, FULL)).config
    assert as_data(validate(json.loads(json.dumps(as_data(config))))) == as_data(config)


SLICES = """
[[files.paths]]
path = "a.py"
custom_slices = [{ start_line = 1, end_line = 2, note = [{ vars = nan }], __dataclass_fields__ = "a", self = "b" }]
[personas.ann]
"""


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of cached configurations, not created yet."""
    monkeypatch.setenv("AGGREGATE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "configurations"


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("text", [FULL, SLICES, "", "[trust]"])
def test_a_known_configuration_is_the_same_without_the_validator(tmp_path: Path, text: str) -> None:
    """A second process loads equal values without pydantic."""
    path = write(tmp_path, text)
    code = (
        "import sys; from pathlib import Path; from aggregate import load_config\n"
        "from aggregate.project.tables import as_data\n"
        f"print(as_data(load_config(Path({str(path)!r})).config), 'pydantic' in sys.modules)"
    )
    first, second = (python(code).rsplit(maxsplit=1) for _ in range(2))
    assert (first[1], second[1]) == (str("[[" in text or "[personas" in text), "False")
    assert first[0] == second[0]


PLAIN: list[dict[str, Any]] = [
    {"project": {"name": "x", "summary_only": True}, "output": {"output_dir": "out/a"}},
    {"files": {"paths": ["**/*", {"path": "a.py", "view_mode": "skeleton"}], "exclude": ["b"]}},
    {"files": {"generated": "outline", "base_dir": ".."}, "screenshots": {"paths": ["*.png"]}},
    {"redaction": {"run": True, "allow": []}, "task": {"text": "do it"}, "trust": {"projects": []}},
]


@pytest.mark.parametrize("data", PLAIN)
def test_plain_tables_are_those_of_the_validator(data: dict[str, Any]) -> None:
    """Texts, paths and switches are read without pydantic; a table of models needs it, and changes nothing else."""
    assert as_data(validate(data)) == as_data(validate({**data, "models": {}}))


@pytest.mark.parametrize(
    "data",
    [
        {"projects": {}},
        {"project": {"name": 1}},
        {"project": []},
        {"files": {"paths": [{"view_mode": "full"}]}},
        {"files": {"paths": ["a\0"]}},
        {"files": {"paths": "a"}},
        {"files": {"generated": "none"}},
        {"redaction": {"allow": ["x"]}},
        {"output": {"namespace": "a/b"}},
        {"budget": {"history": 2.0}},
    ],
)
def test_what_is_not_plain_is_checked(data: dict[str, Any]) -> None:
    """A mistake is found beside tables that are read without pydantic, and alone."""
    for wrong in (data, {"trust": {"projects": ["/a"]}, **data}):
        with pytest.raises(ConfigError):
            validate(wrong)


def test_what_is_wrong_with_a_kept_configuration_only_costs_time(
    tmp_path: Path, kept: Path
) -> None:
    """Damaged, foreign and unreadable entries are ignored, and replaced if possible."""
    load_config(write(tmp_path, "[files]\npaths = ['b.py']"))
    (other,) = kept.iterdir()
    path = write(tmp_path, "[files]\npaths = ['a.py']")
    config = as_data(load_config(path).config)
    (own,) = set(kept.iterdir()) - {other}
    whole = own.read_bytes()
    for wrong in (b"", b"\xff", whole[:-1], whole.replace(b"a.py", b"b.py"), other.read_bytes()):
        own.write_bytes(wrong)
        assert as_data(load_config(path).config) == config
        assert own.read_bytes() == whole
    own.unlink()
    own.mkdir()
    assert as_data(load_config(path).config) == config


def test_a_bounded_number_of_configurations_is_kept(tmp_path: Path, kept: Path) -> None:
    """Each edit adds an entry, and the oldest are removed."""
    for number in range(60):
        load_config(write(tmp_path, f"[project]\nname = 'n{number}'"))
    before = sorted(kept.iterdir())
    assert len(before) == 50
    load_config(tmp_path / "manual_slop.toml")
    assert sorted(kept.iterdir()) == before


@pytest.mark.parametrize(
    ("variable", "value"), [("AGGREGATE_CACHE_LIMIT", "0"), ("AGGREGATE_CACHE_DIR", "here")]
)
def test_no_configuration_is_kept_where_nothing_may_be(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    """Nothing is cached with a limit of 0, nor inside the project."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(variable, value)
    assert load_config(write(tmp_path, FULL)).config.project.name == "demo"
    assert not kept.exists()
    assert not (tmp_path / "here").exists()


AMOUNT = "must be a number of tokens from 1 to 1,000,000,000, such as 32000, 32k or 1.5m"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[project]\nnmae = 'x'", ':2: unknown key "project.nmae": did you mean "name"?'),
        ("project.nmae = 'x'", ':1: unknown key "project.nmae"'),
        ("[project]\n\"x y\" = [\n 1,\n]", ':2: unknown key "project.x y"'),
        ("[[files.paths]]\npath = 'a'\n[files.paths.sub]\nq = 1", ':3: unknown key "files.paths[0].sub"'),
        ("[projects]", ':1: unknown key "projects": did you mean "project"?'),
        ("[output]\nfoo = 1", ':2: unknown key "output.foo": the keys of [output]: namespace, output_dir'),
        ("\n\n[files]\npaths = 'a'", ":4: \"files.paths\": input should be a valid list, not 'a'"),
        ("[project]\nname = 3", ':2: "project.name": input should be a valid string, not 3'),
        ("[project]\nsummary_only = 'maybe'", ':2: "project.summary_only": input should be a valid boolean'),
        (
            "[[files.paths]]\npath = 'a'\n[[files.paths]]\nview_mod = 'full'\npath = 'b'",
            ':4: unknown key "files.paths[1].view_mod"',
        ),
        ("[files]\npaths = [\n  'a',\n  { view_mode = 'full' },\n]", ':4: "files.paths[1].path" is missing: add it'),
        (
            "[files]\npaths = [{ path = 'a', view_mode = 'skel' }]",
            ":2: \"files.paths[0].view_mode\": input should be 'full'",
        ),
        ("[context_presets.p]\nfile = []", ':2: unknown key "context_presets.p.file": did you mean "files"?'),
        ("history = [3]", ':1: "history[0]": input should be'),
        ("[project\n", ": is not valid TOML: Expected ']'"),
        ("[budget]\ntokens = 0", f':2: "budget.tokens": {AMOUNT}, or auto, not 0'),
        ("[budget]\ntokens = true", f':2: "budget.tokens": {AMOUNT}, or auto, not True'),
        ("[budget]\ntokens = 1.5", f':2: "budget.tokens": {AMOUNT}, or auto, not 1.5'),
        ("[budget]\ntokens = 'all'", f":2: \"budget.tokens\": {AMOUNT}, or auto, not 'all'"),
        ("[budget]\ntokens = [1]", f':2: "budget.tokens": {AMOUNT}, or auto'),
        ("[budget]\nmost = 'auto'", f":2: \"budget.most\": {AMOUNT}, not 'auto'"),
        ("[budget]\ntier3 = -1", f':2: "budget.tier3": {AMOUNT}, or auto, not -1'),
        ("[budget]\nhistory = 1.1", ':2: "budget.history": input should be less than or equal to 1'),
        ("[budget]\nresults = -1", ':2: "budget.results": input should be greater than or equal to 0'),
        ("[budget]\nresults = nan", ':2: "budget.results": input should be'),
        ("[models.m]\ninput = inf\noutput = 1", ':2: "models.m.input": input should be a finite number, not inf'),
        ("[budget]\norder = 'best'", ":2: \"budget.order\": input should be 'auto', 'configured', 'relevance' or 'edges'"),
        ("[budget]\ntoken = 1", ':2: unknown key "budget.token": did you mean "tokens"?'),
        ("[task]\ntext = 1", ':2: "task.text": input should be a valid string, not 1'),
        ("[task]\nfocus = []", ':2: unknown key "task.focus": the keys of [task]: pick, text'),
        ("[personas.p]\nbudget = 0", f':2: "personas.p.budget": {AMOUNT}, or auto, not 0'),
        ("[context_presets.p]\nbudget = 0", f':2: "context_presets.p.budget": {AMOUNT}, or auto'),
    ],
)  # fmt: skip
def test_a_mistake_is_one_sentence_with_file_key_and_line(
    tmp_path: Path, text: str, message: str
) -> None:
    """Unknown keys, wrong types, bounds and broken TOML have a place and a reason (B-1, B-4, B-5, B-8)."""
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert str(caught.value).startswith(f"{path}{message}")
    assert "\n" not in str(caught.value)
    assert caught.value.path == str(path)


def test_mistakes_in_a_mapping_have_no_file(tmp_path: Path) -> None:
    """A mapping passed by a host has the same errors."""
    with pytest.raises(
        AggregateError, match=r'^unknown key "project.nmae": did you mean "name"\?$'
    ):
        run({"project": {"nmae": "x"}, "output": {"output_dir": str(tmp_path)}})


def test_a_missing_file_says_how_to_make_one(tmp_path: Path) -> None:
    """The sentence has the file and the command to create it."""
    with pytest.raises(
        ConfigError, match=r'there is no manual_slop.toml here: create it with "aggregate init"'
    ):
        load_config(tmp_path / "manual_slop.toml")


def test_the_published_schema_is_the_models() -> None:
    """docs/manual_slop.schema.json equals the output of ``aggregate schema``."""
    published = Path("docs/manual_slop.schema.json").read_text(encoding="utf-8")
    assert json.loads(published) == json_schema()


def test_the_first_configuration_loads() -> None:
    """The output of ``init`` is valid: the README in full, the code as skeletons."""
    files = [
        "README.md", "app/x.py", "app/y.ts", "main.go", "we[ird]/a.py", ".github/x.py", "uv.lock",
    ]  # fmt: skip
    config = validate(tomllib.loads(first_config('my "project"', files, [".py", ".ts", ".go"])))
    assert config.project.name == 'my "project"'
    assert [(one.path, one.view_mode) for one in config.files.paths] == [
        ("README.md", "full"),
        ("*.go", "skeleton"),
        ("app/**/*.py", "skeleton"),
        ("app/**/*.ts", "skeleton"),
        ("we[[]ird]/**/*.py", "skeleton"),
    ]
    assert config.files.exclude == ["uv.lock"]


def test_trust_is_given_once_and_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list is in the user's configuration, whose other lines stay."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("APPDATA", str(tmp_path / "xdg"))
    global_config_path().parent.mkdir(parents=True)
    global_config_path().write_text("# mine\n[redaction]\nrun = true\n", encoding="utf-8")
    folder = tmp_path / "project"
    folder.mkdir()
    root = set_trust(folder, trusted=True)
    assert set_trust(folder, trusted=True) == root
    assert user_config().trust.projects == [root]
    assert is_trusted(root)
    assert set_trust(folder, trusted=False) == root
    assert user_config().trust.projects == []
    assert (
        global_config_path()
        .read_text(encoding="utf-8")
        .startswith("# mine\n[redaction]\nrun = true\n")
    )


def test_changes_at_the_same_moment_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Concurrent changes of the user's configuration are not lost."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    folders = [tmp_path / str(number) for number in range(6)]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(len(folders)) as pool:
        roots = [*pool.map(partial(set_trust, trusted=True), folders)]
    assert sorted(user_config().trust.projects) == sorted(roots)
