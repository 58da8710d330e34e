"""No file of a project makes a prompt hold what lies outside of it or looks like a secret, unless the user says so."""

import json
import shutil
from pathlib import Path

import pytest

from aggregate import (
    ConfigError,
    FileItem,
    ScopeError,
    build_file_items,
    build_markdown,
    compose_prompt,
    open_project,
    request_for,
    run,
)
from aggregate.agents.tracks import WorkerContexts, open_track
from aggregate.project.paths import is_secret
from aggregate.prompt.asking import scope_of
from aggregate.sending import ModelSelection, prepare_turn
from tests.fakes.conducting import TRACK, track_project
from tests.hostile.reaching_out import REFUSED, SECRET, SKIPPED, Attack, build, victim
from tests.hostile.running import aggregate
from tests.projects import project


@pytest.fixture(autouse=True)
def _own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))


REASON = "outside the project, so not read: allow it with --allow-outside or aggregate trust"


def composed(clone: Path, **allowed: bool) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    made = compose_prompt(request_for(open_project(clone / "manual_slop.toml", **allowed)))
    return made.prompt.markdown, made.warnings, made.refused


@pytest.mark.parametrize("attack", REFUSED.values(), ids=REFUSED)
def test_what_lies_outside_is_refused(tmp_path: Path, attack: Attack) -> None:
    """The prompt says what was asked for and what to do; a run goes on, sending stops, even as a dry run."""
    clone = build(tmp_path, attack)
    text, warnings, refused = composed(clone)
    assert SECRET not in text
    assert f"ERROR: {REASON}: " in text
    assert refused
    assert set(refused) <= set(warnings)
    with pytest.raises(
        ScopeError, match=r"^outside the project, so not read: .* aggregate trust: "
    ):
        prepare_turn(
            open_project(clone / "manual_slop.toml"), "Hi", ModelSelection(provider="scripted")
        )


@pytest.mark.parametrize("attack", SKIPPED.values(), ids=SKIPPED)
def test_a_glob_does_not_follow_links_outside(tmp_path: Path, attack: Attack) -> None:
    """A glob leaves such links out with a warning, and takes the rest."""
    text, warnings, refused = composed(build(tmp_path, attack))
    assert SECRET not in text
    assert "a = 1" in text
    assert any("a link out of the folder" in warning for warning in warnings)
    assert refused == ()


@pytest.mark.parametrize("attack", REFUSED.values(), ids=REFUSED)
def test_what_is_allowed_shows_by_its_relative_path(tmp_path: Path, attack: Attack) -> None:
    """With permission the file is there, and no path of the machine."""
    text, _, refused = composed(build(tmp_path, attack), allow_outside=True)
    assert SECRET in text
    assert str(tmp_path) not in text
    assert refused == ()


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``run`` warns and ends well, ``send`` ends with 1 before anything is sent, options and trust allow it."""
    clone = build(tmp_path, REFUSED["a path with .. names the file"])
    monkeypatch.chdir(clone)
    reason = f"{REASON}: ../private/diary.md"
    code, out, err = aggregate("run", "--stdout")
    assert (code, SECRET in out, f"warning: {reason}\n" in err) == (0, False, True)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody")
    for arguments in (["--provider", "openai"], ["--provider", "scripted", "--dry-run"]):
        assert aggregate("send", "Hi", *arguments)[::2] == (1, f"aggregate: {reason}\n")
    assert SECRET in aggregate("run", "--stdout", "--allow-outside")[1]
    assert aggregate("stats", "--json", "--allow-outside")[1].count("../private/diary.md") == 1
    assert aggregate("send", "Hi", "--provider", "scripted", "--dry-run", "--allow-outside")[0] == 0
    (clone / "sub").mkdir()
    assert aggregate("trust", "sub")[1] == f"{clone}\n"
    assert aggregate("trust", "--list")[1] == f"{clone}\n"
    assert SECRET in aggregate("run", "--stdout")[1]
    assert aggregate("trust", "--remove")[0] == 0
    assert aggregate("trust", "--list")[1] == ""
    assert SECRET not in aggregate("run", "--stdout")[1]


def test_trust_keeps_the_users_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Comments and order of the user's configuration stay; a project is listed once; trust covers no secrets."""
    own = tmp_path / "xdg/manual_slop/manual_slop.toml"
    mine = '# mine\n[trust]\nprojects = ["/gone"] # old\n\n[personas.x] # last\nmodel = "m"\n'
    project(own.parent, {own.name: mine})
    clone = victim(tmp_path)
    monkeypatch.chdir(clone)
    for _ in range(2):
        assert aggregate("trust").code == 0
    text = own.read_text(encoding="utf-8")
    assert text.count(str(clone)) == 1
    for part in ("# mine\n", '"/gone"', '[personas.x] # last\nmodel = "m"\n'):
        assert part in text
    project(clone, {"manual_slop.toml": "", ".env": "x"})
    scope = scope_of(open_project(clone / "manual_slop.toml"))
    assert (scope.allow_outside, scope.allow_secrets) == (True, False)


@pytest.mark.parametrize(
    "config", ["[trust]\nprojects = ['/']\n", "[trust]\n", "trust.projects = []\n"]
)
def test_no_project_trusts_itself(tmp_path: Path, config: str) -> None:
    """A table ``[trust]`` in a project's file is a mistake, whatever it holds."""
    path = project(tmp_path, {"manual_slop.toml": config}) / "manual_slop.toml"
    with pytest.raises(
        ConfigError, match=r"\[trust\] belongs in your own configuration: see aggregate trust$"
    ):
        open_project(path)


def test_screenshots_keep_to_the_rule(tmp_path: Path) -> None:
    """Images outside are named as refused, by path, glob, link and base folder; a missing one is a warning."""
    clone = project(
        victim(tmp_path),
        {"manual_slop.toml": '[screenshots]\npaths = ["../private/x.png", "gone.png"]\n'},
    )
    text, warnings, refused = composed(clone)
    reason = REASON
    assert f"\n\nERROR: {reason}: ../private/x.png\n\n![gone.png](gone.png) (missing)" in text
    assert warnings == (
        f"screenshot ../private/x.png: {reason}",
        "screenshot gone.png: file not found",
    )
    assert refused == warnings[:1]
    project(clone, {"manual_slop.toml": '[screenshots]\nbase_dir = ".."\npaths = ["private/*"]\n'})
    assert composed(clone)[2] == (f"screenshot private/*: {reason}",)
    assert "private/diary.md" in composed(clone, allow_outside=True)[0]


def test_the_history_is_no_way_out(tmp_path: Path) -> None:
    """A discussion's file that is a link to elsewhere is not read, and so nothing is appended to what it leads to."""
    clone = project(victim(tmp_path), {"manual_slop.toml": ""})
    project(tmp_path, {"private/talk.toml": f'history = ["{SECRET}"]\n'})
    (clone / "manual_slop_history.toml").symlink_to("../private/talk.toml")
    with pytest.raises(ScopeError, match=r"outside the project"):
        composed(clone)
    assert SECRET in composed(clone, allow_outside=True)[0]


def test_the_configuration_is_no_way_out(tmp_path: Path) -> None:
    """A configuration that is a link to another project's, with its turns, is not used."""
    clone = victim(tmp_path)
    project(tmp_path, {"private/manual_slop.toml": f'history = ["{SECRET}"]\n'})
    (clone / "manual_slop.toml").symlink_to("../private/manual_slop.toml")
    with pytest.raises(ScopeError, match=r"^outside the project, .*: .*manual_slop\.toml$"):
        composed(clone)
    assert SECRET in composed(clone, allow_outside=True)[0]


def test_beads_are_no_way_out(tmp_path: Path) -> None:
    """Beads elsewhere, by a redirect or a linked folder, are not read and named as such; those in the project are."""
    clone = project(victim(tmp_path), {"manual_slop.toml": '[project]\nexecution_mode = "beads"\n'})
    bead = json.dumps({"id": "x-1", "title": SECRET, "status": "open"}) + "\n"
    project(tmp_path, {"other/.beads/issues.jsonl": bead})
    project(clone, {".beads/redirect": "../other/.beads\n"})
    text, _, _ = composed(clone)
    assert SECRET not in text
    assert "The beads are outside the project and not read" in text
    assert SECRET in composed(clone, allow_outside=True)[0]
    shutil.rmtree(clone / ".beads")
    (clone / ".beads").symlink_to("../other/.beads")
    assert SECRET not in composed(clone)[0]
    (clone / ".beads").unlink()
    project(clone, {".beads/issues.jsonl": bead})
    assert SECRET in composed(clone)[0]


def test_a_worktree_cannot_be_forged(tmp_path: Path) -> None:
    """A ``.git`` file that points to somebody else's repository does not make its beads the project's own."""
    clone = project(
        tmp_path / "clone", {"manual_slop.toml": '[project]\nexecution_mode = "beads"\n'}
    )
    bead = json.dumps({"id": "x-1", "title": SECRET, "status": "open"}) + "\n"
    project(
        tmp_path / "other", {".beads/issues.jsonl": bead, ".git/worktrees/w/commondir": "../..\n"}
    )
    project(clone, {".git": "gitdir: ../other/.git/worktrees/w\n"})
    assert SECRET not in composed(clone)[0]
    project(tmp_path / "other", {".git/worktrees/w/gitdir": f"{clone}/.git\n"})
    assert SECRET in composed(clone)[0]


def test_tickets_are_no_way_out(tmp_path: Path) -> None:
    """A focus file that a track's ticket names outside, directly or by a link, stops the run before anybody works."""
    folder = tmp_path / "clone"
    ticket = '[[tickets]]\nid = "a"\nprompt = "Look."\nfocus_files = ["../private/diary.md"]\n'
    track_project(folder, ticket)
    victim(tmp_path)
    (looking,) = open_track(folder, TRACK).tickets().tickets
    contexts = WorkerContexts(open_project(folder / "manual_slop.toml"))
    with pytest.raises(
        ScopeError,
        match=r'^outside the project, .*: \.\./private/diary\.md, a focus file of the ticket "a"$',
    ):
        contexts.check(looking)
    with pytest.raises(ScopeError, match=r"^outside the project"):
        contexts.assignment(looking, {}, "k")
    allowed = WorkerContexts(open_project(folder / "manual_slop.toml", allow_outside=True))
    allowed.check(looking)
    assert SECRET in allowed.assignment(looking, {}, "k").text
    (folder / "src/three.py").symlink_to("../../private/code.py")
    project(folder, {"manual_slop.toml": '[files]\npaths = ["src/three.py"]\n'})
    with pytest.raises(ScopeError, match=r"^outside the project, .*: src/three\.py$"):
        WorkerContexts(open_project(folder / "manual_slop.toml")).share([looking])


def test_a_mapping_decides_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a host passes in may name any file, as an entry or an item, unless the host says otherwise (M-2)."""
    clone = project(victim(tmp_path), {".env": SECRET})
    monkeypatch.chdir(clone)
    entries: list[str | FileItem] = [
        "../private/diary.md",
        ".env",
        FileItem("../private/code.py", ast_mask={"KEY": "def"}),
        FileItem("a.py", view_mode=""),
    ]
    assert run({"files": {"paths": entries}})[0].count(SECRET) == 3
    assert (
        SECRET
        not in run({"files": {"paths": entries}}, allow_outside=False, allow_secrets=False)[0]
    )
    assert [item["error"] for item in build_file_items(clone, entries)] == [False] * 4
    refused = build_file_items(clone, entries, allow_outside=False, allow_secrets=False)
    assert [item["error"] for item in refused] == [True, True, True, False]
    names = [item["path"] for item in refused]
    assert names == ["../private/diary.md", ".env", "../private/code.py", "a.py"]
    assert build_markdown(clone, entries, clone, [], []).count(SECRET) == 3


def test_secrets_are_taken_by_name_and_permission_only(tmp_path: Path) -> None:
    """No glob takes them, which one line says; a named one needs the option, also by a link; examples are no secrets."""
    files = dict.fromkeys(
        [".env", "deploy/id_rsa", "deploy/x.tfvars", "deploy/.docker/config.json"], SECRET
    )
    clone = project(victim(tmp_path), {**files, ".env.example": "KEY=\n"})
    (clone / "plain.txt").symlink_to(".env")
    project(clone, {"manual_slop.toml": '[files]\npaths = ["**"]\n'})
    text, warnings, refused = composed(clone)
    assert SECRET not in text
    assert "### File .env.example" in text
    note = (
        "4 secret-looking files are left out (.env, deploy/.docker/config.json, deploy/id_rsa and"
    )
    note += " 1 more); name one and add --allow-secrets to include it: **"
    assert [warning for warning in warnings if "secret-looking" in warning] == [f"NOTE: {note}"]
    assert f"NOTE: {note}" in text
    assert refused == ()
    assert SECRET not in composed(clone, allow_secrets=True)[0]
    for name in (".env", "deploy/id_rsa", "plain.txt", "./deploy/../.env"):
        project(clone, {"manual_slop.toml": f'[files]\npaths = ["{name}"]\n'})
        text, _, refused = composed(clone)
        assert SECRET not in text
        assert refused[0].startswith(
            "ERROR: looks like a secret, so not read: allow it with --allow-secrets: "
        )
        assert SECRET in composed(clone, allow_secrets=True)[0]
    project(clone, {"manual_slop.toml": '[files]\nbase_dir = "deploy/.docker"\npaths = ["*"]\n'})
    assert SECRET not in composed(clone, allow_outside=True)[0]


SECRETS = """
.env .env.local prod.env .envrc .netrc _netrc .pgpass .npmrc .pypirc .git-credentials id_rsa id_ed25519
server.pem tls.key a.p12 a.pfx a.jks a.keystore a.kdbx a.ppk .docker/config.json home/.docker/config.json
kubeconfig prod.kubeconfig .kube/config .aws_credentials .aws/credentials .aws/config .ssh/config .gnupg/x
service-account.json service-account-prod.json service_account.json app-firebase-adminsdk-1.json .bash_history
.zsh_history .psql_history fish_history terraform.tfstate terraform.tfstate.backup prod.tfvars
x.auto.tfvars.json credentials.json credentials google-credentials.json client_secret_1.json secrets.yaml
.htpasswd .ENV x/.SSH/a .config/gcloud/x.db private.pem public_private.pem
"""
ORDINARY = """
secrets.py secret.go keyboard.key.ts public.pem public_key.pem jwt.pub.pem id_rsa.pub .env.example .env.sample
.env.template .env.ts env.py environment.yml manual_slop_history.toml history.toml test_history.py history.md
credentials.py Credentials.java password.rb token.txt config.json docker/config.json ssh/config kube.yaml
.gitignore service-account.md service_account.py cacert.pem pem.py keys.json key.pub aws/credentials.py
state.tf main.tf browsing_history.js gcloud.py README.env.md
"""


def test_names_of_secrets() -> None:
    """What usually holds secrets is known by its name, at any depth; code about secrets, examples and public keys are none."""
    for name in SECRETS.split():
        assert is_secret(name) and is_secret(f"deep/er/{name}"), name  # noqa: PT018 - of one name
    for name in ORDINARY.split():
        assert not is_secret(name) and not is_secret(f"src/{name}"), name  # noqa: PT018
