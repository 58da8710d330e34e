"""Access: attacks from other sites, by other host names, by names and contents of files."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.panel.opened import FILES, HEADERS, ORIGIN, TOKEN, Opened, access, app_of, opened


def _stranger(panel: Opened, base_url: str = ORIGIN) -> TestClient:
    return TestClient(panel.client.app, base_url=base_url, follow_redirects=False)


def test_the_token_becomes_a_cookie_that_no_script_reads(panel: Opened) -> None:
    """The token becomes a cookie for this site only, without the token (E-8)."""
    unopened = TestClient(app_of(panel.session), base_url=ORIGIN, follow_redirects=False)
    answer = unopened.get(f"/?token={TOKEN}")
    cookie = answer.headers["set-cookie"]
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie


def test_the_token_opens_one_browser(panel: Opened) -> None:
    """A used address opens no other browser; the first one may reload it."""
    for path in (f"/?token={TOKEN}", "/", f"/?token={TOKEN}"):
        assert panel.client.get(path).status_code == 200
    answer = _stranger(panel).get(f"/?token={TOKEN}")
    assert answer.status_code == 401
    assert "it changes with each start" in answer.text
    assert answer.headers["content-type"].startswith("text/html")
    assert "Start <code>aggregate panel --no-open</code> again" in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "path", ["/", "/?token=wrong", "/api/state", "/api/events", "/api/prompt/text"]
)
def test_without_token_or_cookie_nothing_is_told(panel: Opened, path: str) -> None:
    """Without the token nothing is readable (E-8)."""
    answer = _stranger(panel).get(path)
    assert answer.status_code == 401
    assert "small" not in answer.text


@pytest.mark.parametrize(
    "other", ['prefs={"a": 1}', "x=[1]", "a b", 'y="unclosed', "bad[]={}", "caf\xe9=1"]
)
def test_cookies_of_other_programs_do_not_lock_out(panel: Opened, other: str) -> None:
    """Cookies of other local programs do not hide the panel's."""
    own = f"{access().cookie}={access().secret}"
    cookie = f"{other}; {own}; {other}".encode("latin-1")
    assert _stranger(panel).get("/api/state", headers=[(b"cookie", cookie)]).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8123", "127.0.0.1:9999", "127.0.0.1.evil.example:8123", ""],
)
def test_other_names_that_lead_here_are_refused(panel: Opened, host: str) -> None:
    """A foreign name of this machine (DNS rebinding) is refused, even with the cookie (E-8)."""
    answer = panel.client.get("/api/state", headers={"host": host})
    assert answer.status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-aggregate": "1"},
        {"origin": ORIGIN},
        {"origin": "http://evil.example", "x-aggregate": "1"},
        {"origin": "null", "x-aggregate": "1"},
        {"origin": "http://127.0.0.1:9", "x-aggregate": "1"},
        {"origin": "https://127.0.0.1:8123", "x-aggregate": "1"},
        {"origin": ORIGIN, "x-aggregate": "1", "content-type": "text/plain"},
    ],
)
def test_posts_of_other_sites_are_refused(panel: Opened, headers: dict[str, str]) -> None:
    """Other sites cannot act, even with the cookie (E-8)."""
    answer = panel.client.post(
        "/api/run", content=b"{}", headers={"content-type": "application/json", **headers}
    )
    assert answer.status_code == 403
    assert not (panel.folder / "md_gen").exists()


def test_questions_of_other_sites_are_refused(panel: Opened) -> None:
    """Requests marked as cross-site by the browser are refused."""
    for site in ("cross-site", "same-site"):
        assert panel.client.get("/api/state", headers={"sec-fetch-site": site}).status_code == 403
    assert panel.client.get("/api/state", headers={"sec-fetch-site": "same-origin"}).is_success


def test_actions_need_a_post(panel: Opened) -> None:
    """Links and images cannot act (E-8)."""
    for path in ("run", "save", "undo", "send", "edit", "fit"):
        assert panel.client.get(f"/api/{path}").status_code == 405
    assert panel.client.request("DELETE", "/api/state", headers=HEADERS).status_code == 405


def test_every_answer_says_what_a_browser_may_do(panel: Opened) -> None:
    """All answers, also refusals, forbid inline scripts, other hosts, frames and sniffing (E-9)."""
    for path in ("/api/state", "/", "/api/nothing", "/static/none.js"):
        headers = panel.client.get(path).headers
        policy = headers["content-security-policy"]
        assert "script-src 'self';" in policy
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
    assert "no-store" in panel.client.get("/api/state").headers["cache-control"]


@pytest.mark.parametrize(
    "path",
    ["../outside.txt", "/etc/passwd", "src/../../outside.txt", "link.txt", ".env", "C:\\x", "\0"],
)
def test_no_file_beside_the_project_is_read(tmp_path: Path, path: str) -> None:
    """Only files of the table are served, not outside, linked or secret ones (E-10)."""
    (tmp_path / "outside.txt").write_text("outside words")
    panel = opened(tmp_path / "project", {**FILES, ".env": "KEY=hidden words\n"})
    (panel.folder / "link.txt").symlink_to(tmp_path / "outside.txt")
    panel.session.catch_up()
    panel.session.compose()
    for answer in (
        panel.client.get("/api/file", params={"path": path}),
        panel.client.get("/api/image", params={"path": path}),
        panel.client.post(
            "/api/edit",
            json={"edits": [{"op": "slice", "path": path, "start": 1, "end": 1}]},
            headers=HEADERS,
        ),
    ):
        assert "words" not in answer.text
        assert answer.status_code in (400, 404) or answer.json().get("error")


def test_a_file_that_becomes_a_link_is_not_followed(panel: Opened, tmp_path: Path) -> None:
    """A file replaced by a link after the listing is not read."""
    secret = tmp_path.parent / f"{tmp_path.name}-secret.txt"
    secret.write_text("outside words")
    (panel.folder / "src/b.py").unlink()
    (panel.folder / "src/b.py").symlink_to(secret)
    answer = panel.client.get("/api/file", params={"path": "src/b.py", "mode": "full"})
    assert "outside words" not in answer.text


@pytest.mark.parametrize("path", ["../app.py", "%2e%2e/app.py", "..%2fapp.py", "js/../../app.py"])
def test_the_page_s_folder_is_not_left(panel: Opened, path: str) -> None:
    """Only the page's own files are served as files."""
    assert panel.client.get(f"/static/{path}").status_code in (401, 404)


def test_names_and_contents_stay_text(tmp_path: Path) -> None:
    """Scripts in names and contents are returned as JSON text only (E-9)."""
    name = "<img src=x onerror=alert(1)>.py"
    files = {
        name: "x = '</script><script>alert(1)</script>'\n",
        "[a].py": "y = 1\n",
        "manual_slop.toml": "",
    }
    panel = opened(tmp_path, files)
    panel.edit(op="view", paths=[name], mode="full")
    panel.edit(op="view", paths=["[a].py"], mode="full")
    answer = panel.client.get("/api/files")
    assert answer.headers["content-type"] == "application/json"
    assert panel.row(name)["view"] == "full"
    assert panel.row("[a].py")["view"] == "full"
    assert "alert" in panel.get("file", path=name)["source"][0]
    panel.edit(op="view", paths=["[a].py"], mode="out")
    assert panel.row(name)["view"] == "full"


NO_REQUESTS = {
    "edit": [
        b"[]",
        b"{",
        b"\xff",
        b'{"edits": 3}',
        b'{"edits": [3]}',
        b"[" * 100_000,
        b'{"edits": [{"op": "slice", "path": "src/a.py", "start": "4", "end": 5}]}',
        b'{"edits": [{"op": "\\ud800"}]}',
    ],
    "send/plan": [b'{"message": "hello", "persona": "\\ud800"}'],
    "preset/save": [b'{"name": "a", "scope": "\\ud800"}'],
}


@pytest.mark.parametrize(
    ("route", "body"), [(route, body) for route, bodies in NO_REQUESTS.items() for body in bodies]
)
def test_what_is_no_request_is_refused(panel: Opened, route: str, body: bytes) -> None:
    """An invalid request is one sentence without traceback, also outside Unicode."""
    headers = {**HEADERS, "content-type": "application/json"}
    answer = panel.client.post(f"/api/{route}", content=body, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"]


def test_keys_never_come_out(panel: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer contains a key of the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-words-of-a-key")
    plan = panel.client.post(
        "/api/send/plan", json={"message": "hello", "model": "openai/gpt-5.6"}, headers=HEADERS
    )
    assert "words-of-a-key" not in plan.text + panel.client.get("/api/state").text


def test_a_project_cannot_choose_where_it_is_sent(tmp_path: Path) -> None:
    """A provider address in a project's file is refused, as by ``send``."""
    config = FILES["manual_slop.toml"] + '[send]\nbase_url = "http://evil.example/v1"\n'
    panel = opened(tmp_path, {**FILES, "manual_slop.toml": config})
    assert "evil.example" in panel.post("send/plan", message="hello")["error"]
