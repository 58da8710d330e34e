"""The panel's routes on a small project: state and actions."""

import json
import os
import sys
from pathlib import Path

import pytest

import aggregate
from aggregate.prompt.audit import read_audit
from tests.fakes.images import png
from tests.panel.opened import CONFIG, FILES, HEADERS, Opened, opened
from tests.projects import project


def test_the_prompt_has_the_bytes_of_run(panel: Opened) -> None:
    """The page shows the prompt of ``run``, with edits and budgets (E-1)."""
    for edit in (
        {"op": "view", "paths": ["src/a.py"], "mode": "skeleton"},
        {"op": "mask", "path": "src/a.py", "name": "Beta.gamma", "mask": "sig"},
        {"op": "task", "task": "mend delta", "budget": "1k"},
    ):
        panel.edit(**edit)
        assert panel.post("save")["sentence"] == "saved manual_slop.toml"
        panel.session.compose()
        markdown, _, _ = aggregate.run(panel.folder / "manual_slop.toml")
        assert panel.markdown == markdown


def test_state_names_what_there_is(panel: Opened) -> None:
    """The state describes project, draft and prompt."""
    state = panel.get("state")
    told = {key: state[key] for key in ("project", "dirty", "can_undo", "exists")}
    assert told == {"project": "small", "dirty": False, "can_undo": False, "exists": True}
    assert state["prompt"]["lines"] == panel.markdown.count("\n")
    assert state["prompt"]["tokens"] == state["sections"]["files"]
    assert state["composed"] == state["revision"]


def test_the_table_lists_all_files_that_could_enter(panel: Opened) -> None:
    """Files without an entry are listed too, without a view."""
    table = panel.get("files")
    assert table["full"] is True
    assert table["path"] == ["README.md", "manual_slop.toml", "notes.txt", "src/a.py", "src/b.py"]
    assert table["view"] == ["outline", "", "", "full", "full"]
    assert panel.row("src/a.py")["tokens"] > 0 == panel.row("notes.txt")["tokens"]


def test_the_table_gives_what_has_changed_since(panel: Opened) -> None:
    """With a revision only changed and removed rows are sent."""
    before = panel.get("files")["revision"]
    panel.edit(op="view", paths=["src/b.py"], mode="outline")
    since = panel.get("files", since=before)
    assert (since["full"], since["path"], since["view"]) == (False, ["src/b.py"], ["outline"])
    (panel.folder / "notes.txt").unlink()
    panel.told(panel.folder / "notes.txt")
    panel.session.compose()
    assert panel.get("files", since=since["revision"])["removed"] == ["notes.txt"]
    assert panel.get("files", since=99_999)["full"] is True


def test_every_line_of_the_prompt_has_its_origin(panel: Opened) -> None:
    """Lines are sent in parts with origins, and a file's line is found in the prompt (rule L-1)."""
    total = panel.get("prompt")["lines"]
    whole = panel.get("prompt/lines", first=1, last=total)
    parts = [panel.get("prompt/lines", first=n, last=n) for n in range(1, total + 1)]
    assert "\n".join([*whole["lines"], ""]) == panel.markdown
    for key in ("lines", "colours", "origins", "kinds", "stands_for"):
        assert [value for part in parts for value in part[key]] == whole[key]
    line = panel.get("prompt/where", path="src/a.py", line=9)["line"]
    assert whole["lines"][line - 1] == "    def gamma(self):"
    assert whole["origins"][line - 1] == ["src/a.py", 9]
    assert whole["colours"][line - 1] == ".4 k3 .1 f5 .1 b4"
    assert panel.get("prompt/lines", first=total + 1, last=total + 9)["lines"] == []


def test_a_file_is_shown_beside_its_view(panel: Opened) -> None:
    """Each line of a view has its source line."""
    file = panel.get("file", path="src/a.py", mode="skeleton")
    assert (file["mode"], file["entry"], file["by_glob"]) == ("skeleton", "src/*.py", True)
    for line, origin in zip(file["view"], file["origin"], strict=True):
        assert not origin or "..." in line or file["source"][origin - 1] == line
    names = [definition["name"] for definition in file["definitions"]]
    assert names == ["alpha", "Beta", "Beta.gamma"]
    whole = panel.get("file", path="src/a.py", mode="full")
    assert whole["origin"] == list(range(1, len(whole["source"]) + 1))
    assert whole["colours"] == whole["view_colours"]
    assert whole["colours"][3] == "k3 .1 f5"
    assert set(file["sizes"]) == {"full", "skeleton", "outline", "summary"}


def test_masks_are_set_and_taken_back(panel: Opened) -> None:
    """A masked definition is shown masked."""
    panel.edit(op="mask", path="src/a.py", name="Beta.gamma", mask="def")
    file = panel.get("file", path="src/a.py")
    assert file["mode"] == "masked"
    assert [each["mask"] for each in file["definitions"]] == ["", "", "def"]
    assert "def alpha" not in panel.markdown
    panel.edit(op="mask", path="src/a.py", name="Beta.gamma", mask="")
    assert "ast_mask" not in panel.draft


def test_a_slice_follows_its_lines(panel: Opened) -> None:
    """A slice is captured with its anchor, found after an edit, confirmed, and else stale (rule M-X9)."""
    panel.edit(op="slice", path="src/a.py", start=4, end=5, tag="core", comment="this one")
    assert "--- [Slice: core] (this one) Lines 4-5:" in panel.markdown
    panel.change("src/a.py", "# a new line\n" + FILES["src/a.py"])
    (piece,) = panel.get("file", path="src/a.py")["slices"]
    assert (piece["state"], piece["start"], piece["end"]) == ("moved", 5, 6)
    panel.edit(op="confirm_slice", path="src/a.py", id=0)
    (piece,) = panel.get("file", path="src/a.py")["slices"]
    assert (piece["state"], piece["start"], piece["tag"]) == ("exact", 5, "core")
    panel.edit(op="remove_slice", path="src/a.py", id=0)
    assert panel.get("file", path="src/a.py")["slices"] == []
    assert "no slice 0" in panel.edit(op="remove_slice", path="src/a.py", id=0)["error"]
    panel.edit(op="slice", path="src/b.py", start=1, end=2)
    panel.change("src/b.py", "nothing = 'of the kind'\n")
    (piece,) = panel.get("file", path="src/b.py")["slices"]
    assert (panel.row("src/b.py")["state"], piece["state"], piece["why"] != "") == (
        "stale",
        "stale",
        True,
    )


def test_states_tell_what_a_file_is(tmp_path: Path) -> None:
    """Secrets, binary files, generated files and errors are marked in the table."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    files = {
        **FILES,
        "src/key.py": f"TOKEN = '{token}'\n",
        "src/made.py": "# Code generated by a program. DO NOT EDIT.\nx = 1\n",
        "src/data.py": "a\0b",
        "manual_slop.toml": '[files]\npaths = ["src/*.py", "gone.py"]\n',
    }
    panel = opened(tmp_path, files)
    expected = {
        "src/key.py": "secret",
        "src/a.py": "",
        "gone.py": "error",
        "src/made.py": "generated",
        "src/data.py": "binary",
    }
    assert {name: panel.row(name)["state"] for name in expected} == expected
    assert "binary" in panel.row("src/data.py")["why"]


def test_nothing_is_written_before_save(panel: Opened) -> None:
    """Edits change only the draft; saving keeps comments and other keys (E-2)."""
    panel.edit(op="view", paths=["src/b.py"], mode="summary")
    assert panel.config == CONFIG
    assert panel.get("state")["dirty"] is True
    panel.post("save")
    assert panel.config.startswith(CONFIG.rstrip()[: CONFIG.rindex("]")])
    assert '{path = "src/b.py", view_mode = "summary"}' in panel.config
    assert panel.get("state")["dirty"] is False


def test_steps_are_undone_and_redone(panel: Opened) -> None:
    """Each edit request is one step, with any number of edits (E-2)."""
    edits = [
        {"op": "view", "paths": ["src/a.py"], "mode": "outline"},
        {"op": "view", "paths": ["src/b.py"], "mode": "outline"},
    ]
    after = panel.post("edit", revision=1, edits=edits)
    assert after["can_undo"]
    changed = panel.draft
    state = panel.post("undo")
    assert (panel.draft, state["can_undo"], state["can_redo"]) == (CONFIG, False, True)
    panel.post("redo")
    assert panel.draft == changed


def test_what_is_typed_is_one_step(panel: Opened) -> None:
    """Consecutive edits of one step are undone together (E-2)."""

    def type_task(text: str, step: str) -> None:
        panel.post("edit", edits=[{"op": "task", "task": text}], step=step)

    for text in ("why", "why does", "why does alpha"):
        type_task(text, "first")
    type_task("gamma", "second")
    assert 'text = "gamma"' in panel.draft
    panel.post("undo")
    assert 'text = "why does alpha"' in panel.draft
    type_task("why does beta", "second")  # what was undone goes on nowhere
    panel.post("undo")
    assert 'text = "why does alpha"' in panel.draft
    panel.post("undo")
    assert panel.draft == CONFIG


def test_what_is_copied_is_of_the_draft_as_it_is(panel: Opened) -> None:
    """A copy while typing has the newest text, or is refused."""
    panel.post("edit", edits=[{"op": "task", "task": "why does alpha join", "budget": 500}])
    assert "why does alpha join" in panel.markdown
    panel.post("edit", edits=[{"op": "task", "budget": 20}])
    assert "budget" in panel.get("prompt/text")["error"]


def test_an_empty_folder_has_no_files(tmp_path: Path) -> None:
    """The implicit pattern for all files is no file."""
    assert opened(tmp_path, {}).get("files")["path"] == []


def test_an_edit_that_fails_changes_nothing(panel: Opened) -> None:
    """An invalid edit is one sentence, and none of the request is applied (E-2)."""
    good = {"op": "view", "paths": ["src/a.py"], "mode": "outline"}
    for bad in (
        {"op": "fly"},
        {"op": "view", "paths": "src/a.py", "mode": "full"},
        {"op": "view", "paths": ["src/a.py"], "mode": "sideways"},
        {"op": "slice", "path": "src/a.py", "start": 90, "end": 91},
        {"op": "slice", "path": "nowhere.py", "start": 1, "end": 2},
        {"op": "preset", "name": "none such"},
        {"op": "task", "budget": "many"},
        {"op": "mask", "path": "src/a.py", "name": "alpha", "mask": "shout"},
    ):
        answer = panel.post("edit", revision=1, edits=[good, bad])
        assert answer["error"]
        assert "\n" not in answer["error"]
        assert panel.draft == CONFIG


def test_a_budget_decides_and_tells(panel: Opened) -> None:
    """With a task and a budget, files have scores and reasons (rule A-1)."""
    panel.edit(op="task", task="mend delta in b", budget=300)
    row = panel.row("src/b.py")
    assert row["score"] > panel.row("src/a.py")["score"]
    assert "words in a definition: delta" in row["why"]
    since, told = panel.get("files")["revision"], len(panel.events)
    fitted = panel.post("fit", budget=2000, since=since)
    assert fitted["prompt"]["tokens"] <= 2000
    assert fitted["files"]["full"] is False
    assert panel.get("state")["budget"] == 300
    assert len(panel.events) == told  # who moves the slider has the answer
    panel.post("fit", budget=2000, released=True)
    assert [event["what"] for event in panel.events[told:]] == ["composed"]
    assert panel.get("state")["budget"] == 2000
    panel.post("undo")
    assert panel.get("state")["budget"] == 300


@pytest.mark.parametrize("table", ["[redaction]\nrun = true\n", "[task]\ntext = 'a token'\n"])
def test_secrets_are_replaced_wherever_the_prompt_replaces_them(table: str, tmp_path: Path) -> None:
    """The page redacts the same secrets as ``run``, even if composing fails."""
    key = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zC0eF3hJ6"
    config = (
        f'{table}[files]\npaths = ["a.py"]\n[budget]\ntokens = 1\n'
        f'[discussion]\nhistory = ["User: my key is {key}"]\n'
    )
    panel = opened(tmp_path, {"a.py": f'token = "{key}"\n', "manual_slop.toml": config})
    assert panel.session.view.composed is None
    for _ in range(2):
        for route in ("state", "file?path=a.py&mode=full", "file?path=a.py", "prompt/text"):
            assert key not in panel.client.get(f"/api/{route}").text
        panel.edit(op="task", budget=None)
    assert panel.session.view.composed is not None


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_names_that_are_no_unicode_pass(tmp_path: Path) -> None:
    """Files and screenshots with such names are shown; saving them is refused."""
    config = '[files]\npaths = ["*.py"]\n[screenshots]\npaths = ["*.png"]\n'
    project(tmp_path, {"manual_slop.toml": config})
    name = os.fsdecode(b"caf\xe9.py")
    (tmp_path / name).write_text("x = 1\n")
    image = png(3, 3)
    (tmp_path / os.fsdecode(b"sc\xe9.png")).write_bytes(image)
    panel = opened(tmp_path, {})
    assert panel.client.get("/api/file?path=caf%e9.py").json()["source"] == ["x = 1"]
    (screenshot,) = panel.get("state")["screenshots"]
    assert panel.client.get(screenshot["url"]).content == image
    body = json.dumps({"edits": [{"op": "view", "paths": [name], "mode": "outline"}]})
    headers = {**HEADERS, "content-type": "application/json"}
    answer = panel.client.post("/api/edit", content=body, headers=headers)
    assert answer.status_code == 400
    assert "is not valid Unicode" in answer.json()["error"]


def test_what_is_pointed_at_is_not_saved(panel: Opened) -> None:
    """Focus, symbols and revision are not saved; unmatched ones are reported (E-3)."""
    panel.edit(op="task", task="mend it", budget="1k", focus=["src/b.py"], symbols=["nobody"])
    assert panel.get("state")["task"]["focus"] == ["src/b.py"]
    assert panel.row("src/b.py")["why"] == "pinned: shown at any cost"
    assert "focus" not in panel.draft


def test_a_whole_folder_is_one_entry(tmp_path: Path) -> None:
    """A folder's files become one glob, or one pattern to exclude (E-5)."""
    many = {f"lib/deep/f{n}.py": f"x = {n}\n" for n in range(6)}
    panel = opened(tmp_path, {**FILES, **many})
    panel.edit(op="view", paths=list(many), mode="outline")
    assert '{path = "lib/**/*", view_mode = "outline"}' in panel.draft
    assert panel.row("lib/deep/f3.py")["view"] == "outline"
    panel.edit(op="view", paths=list(many), mode="out")
    assert '"/lib/"' in panel.draft
    assert panel.row("lib/deep/f3.py")["view"] == ""
    panel.edit(op="view", paths=["lib/deep/f3.py"], mode="full")
    assert panel.row("lib/deep/f3.py")["view"] == "full"


def test_entries_that_are_tables_of_their_own_get_another(tmp_path: Path) -> None:
    """Among ``[[files.paths]]`` a new entry has the same form (E-5)."""
    config = '[[files.paths]]\npath = "src/a.py"\n'
    panel = opened(tmp_path, {**FILES, "manual_slop.toml": config})
    panel.edit(op="view", paths=["src/b.py"], mode="outline")
    assert panel.draft.startswith(f'{config}[[files.paths]]\npath = "src/b.py"\n')
    assert panel.row("src/b.py")["view"] == "outline"


def test_all_files_of_a_glob_change_the_glob(panel: Opened) -> None:
    """A view for all files of an entry is set in the entry (E-5)."""
    panel.edit(op="view", paths=["src/a.py", "src/b.py"], mode="skeleton")
    assert '{path = "src/*.py", view_mode = "skeleton"}, # the sources' in panel.draft


def test_run_writes_what_the_command_writes(panel: Opened) -> None:
    """Run writes a numbered prompt with a record, used by the next one (E-1)."""
    answer = panel.post("run")
    path = Path(answer["path"])
    assert path.read_text() == panel.markdown
    assert (path.parent / f".{path.stem}.chain.json").exists()
    panel.edit(op="view", paths=["src/b.py"], mode="outline")
    prompt = panel.get("prompt")
    assert "tokens are as in the last prompt" in prompt["kept_sentence"]
    assert 0 < prompt["kept_until"] < prompt["lines"]
    assert panel.row("src/b.py")["state"] == "changed"
    audited = panel.post("edit", revision=1, edits=[{"op": "task", "task": "mend", "budget": "1k"}])
    assert audited["dirty"]
    assert Path(panel.post("run")["path"]).read_text() == panel.markdown
    audit = read_audit(path.with_name("small_002.md"))
    assert audit is not None
    assert audit.task.text == "mend"


def test_presets_are_stored_and_applied(panel: Opened) -> None:
    """A preset is saved to the disk at once; applying one can be undone."""
    panel.edit(op="view", paths=["src/b.py"], mode="outline")
    state = panel.post("preset/save", name="slim", description="less")
    assert [(each["name"], each["files"]) for each in state["presets"]] == [("slim", 3)]
    assert "[context_presets.slim]" in panel.config
    assert state["dirty"] is True
    panel.edit(op="view", paths=["src/b.py"], mode="full")
    panel.post("preset/apply", name="slim")
    panel.session.compose()
    assert panel.row("src/b.py")["view"] == "outline"
    panel.edit(op="view", paths=["src/a.py"], mode="summary")
    assert panel.session.project.config.context_presets["slim"].files[-1].view_mode == "summary"
    assert panel.post("preset/save", name=" ")["error"]


def test_turns_and_sections_are_switched(tmp_path: Path) -> None:
    """Turns are switched without changing the discussion's file."""
    history = '[[discussion.history]]\nrole = "User"\ncontent = "first words"\n[[discussion.history]]\nrole = "AI"\ncontent = "an answer"\n'
    panel = opened(tmp_path, {**FILES, "manual_slop.toml": CONFIG + history})
    turns = panel.get("state")["discussion"]["turns"]
    assert [(turn["role"], turn["on"], turn["tokens"] > 0) for turn in turns] == [
        ("User", True, True),
        ("AI", True, True),
    ]
    panel.edit(op="turn", id=0, on=False)
    assert "first words" not in panel.markdown
    assert "an answer" in panel.markdown
    panel.edit(op="section", name="history", on=False)
    assert "an answer" not in panel.markdown
    assert panel.get("state")["dirty"] is False
    panel.edit(op="section", name="beads", on=True)
    assert 'execution_mode = "beads"' in panel.draft


def test_screenshots_are_shown_and_switched(tmp_path: Path) -> None:
    """Only images of the prompt have an address."""
    (tmp_path / "shot.png").write_bytes(png(4, 4))
    panel = opened(tmp_path)
    panel.edit(op="screenshot", path="shot.png", on=True)
    (image,) = panel.get("state")["screenshots"]
    answer = panel.client.get(image["url"])
    assert answer.headers["content-type"] == "image/png"
    assert panel.client.get("/api/image?path=README.md").status_code == 404
    panel.edit(op="screenshot", path="shot.png", on=False)
    (image,) = panel.get("state")["screenshots"]
    assert image["on"] is False
    assert panel.client.get(image["url"]).status_code == 200


def test_a_plan_comes_before_a_request_and_is_sent_once(panel: Opened) -> None:
    """Sending needs a plan, streams the answer, and stores the turns like ``send`` (E-6)."""
    assert panel.post("send/plan", message=" ")["error"]
    plan = panel.post("send/plan", message="what is delta?", model="scripted")
    assert (plan["provider"], plan["key"], plan["tokens"] > 0) == ("scripted", True, True)
    assert not (panel.folder / "md_gen").exists()
    sent, again = (
        panel.client.post("/api/send", json={"plan": plan["plan"]}, headers=HEADERS).text
        for _ in range(2)
    )
    assert "event: text" in sent
    assert "event: done" in sent
    assert (
        "what is delta?"
        in (panel.folder / "md_gen" / "manual_slop.scripted_history.toml").read_text()
    )
    assert "was already sent" in again


def test_a_budget_that_is_too_small_is_said(tmp_path: Path) -> None:
    """A failure is one sentence, and the next edit composes again (rule B-3)."""
    panel = opened(tmp_path)
    panel.edit(op="task", task="mend", budget=20, focus=["src/a.py"])
    state = panel.get("state")
    assert state["prompt"] is None
    assert state["prompt_error"]
    assert panel.get("prompt")["error"] == state["prompt_error"]
    panel.edit(op="task", budget="2k")
    assert panel.get("state")["prompt_error"] == ""
