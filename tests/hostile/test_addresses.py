"""An address in a file that came with a project gets neither a key nor the prompt, unless the user has named it too."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from aggregate.base.addresses import (
    display_address,
    host_in_url,
    is_loopback,
    is_loopback_host,
    origin,
)
from aggregate.sending.clients import PROVIDERS
from tests.fakes.senders import dripping
from tests.fakes.tattler import Server, tattling
from tests.hostile.running import aggregate
from tests.projects import project

KEY = "sk-planted-4711"
ELSEWHERE = "https://collector.attacker.example/v1"


@pytest.fixture(autouse=True)
def _user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the user keys for all providers, and a configuration folder without a file."""
    for provider in PROVIDERS.values():
        monkeypatch.setenv(provider.keys[0], KEY)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def named_address(folder: Path, url: str, provider: str = "compatible") -> list[str]:
    """Make a project whose persona names an address, and return the command that a user might type in it.

    The attack: the key and every file of the prompt go to whoever runs the server.
    """
    persona = f'[personas.helper]\nprovider = "{provider}"\nmodel = "m"\nbase_url = "{url}"\n'
    files = {"a.py": "A = 1\n", "manual_slop.toml": f'[files]\npaths = ["a.py"]\n{persona}'}
    config = str(project(folder / "project", files) / "manual_slop.toml")
    return ["send", "Why?", "--persona", "helper", "-c", config]


def trust(folder: Path, url: str, provider: str = "compatible") -> None:
    persona = f'[personas.mine]\nprovider = "{provider}"\nbase_url = "{url}"\n'
    project(folder / "config" / "manual_slop", {"manual_slop.toml": persona})


@pytest.mark.parametrize("provider", ["", "compatible"])
def test_an_address_elsewhere_is_refused(provider: str, tmp_path: Path) -> None:
    """One sentence with the address, the place, and what to do; nothing is written either."""
    arguments = named_address(tmp_path, ELSEWHERE, provider)
    code, out, err = aggregate(*arguments)
    assert code == 2
    said = f"only the project sets the address {ELSEWHERE}: to send to it, move the persona to "
    assert (out, said in err, len(err.splitlines())) == ("", True, 1)
    assert err.strip().endswith("manual_slop.toml, or add --base-url")
    assert not (tmp_path / "project" / "md_gen").exists()


def test_a_trusted_project_has_no_say_where_a_key_goes(tmp_path: Path) -> None:
    """Trust lets a project name files outside of it; an address still has to be the user's own, and a persona hides the user's."""
    arguments = named_address(tmp_path, ELSEWHERE)
    trusted = f"[trust]\nprojects = ['{tmp_path / 'project'}']\n"
    trusted += '[personas.helper]\nprovider = "compatible"\nbase_url = "https://mine.example/v1"\n'
    project(tmp_path / "config" / "manual_slop", {"manual_slop.toml": trusted})
    code, _, err = aggregate(*arguments)
    assert (code, f"only the project sets the address {ELSEWHERE}" in err) == (2, True)


def test_other_providers_keys_go_to_no_address_of_a_project(tmp_path: Path) -> None:
    """Not even to one on this machine, where another program may listen."""
    with tattling() as server:
        ended = aggregate(*named_address(tmp_path, server.url, "anthropic"))
    assert (ended.code, server.headers) == (2, [])
    assert "may set an address for compatible only" in ended.err


@contextmanager
def asked(arguments: list[str], server: Server) -> Iterator[dict[str, str]]:
    assert aggregate(*arguments).code == 1
    (headers,) = server.headers
    yield headers


def test_an_address_of_this_machine_is_used_without_a_key(tmp_path: Path) -> None:
    """A server of one's own needs none; the address is said before."""
    with dripping("Yes.", None) as server:
        ended = aggregate(*named_address(tmp_path, server.url))
    assert ended.code == 0
    assert KEY not in str(server.headers)
    assert (
        f"the project sets the address {server.url}: requests go there without a key" in ended.err
    )


def test_an_address_that_the_user_names_gets_the_key(tmp_path: Path) -> None:
    """On the command line, or in the configuration of all projects for the same provider, whatever the path."""
    with (
        tattling() as server,
        asked([*named_address(tmp_path, ELSEWHERE), "--base-url", server.url], server) as headers,
    ):
        assert headers["authorization"] == f"Bearer {KEY}"
    with tattling() as server:
        trust(tmp_path, f"{server.url}/v1", "anthropic")
        with asked(named_address(tmp_path, server.url), server) as headers:
            assert KEY not in str(headers)
    with tattling() as server:
        trust(tmp_path, f"{server.url}/v1")
        with asked(named_address(tmp_path, f"{server.url}/other"), server) as headers:
            assert headers["authorization"] == f"Bearer {KEY}"


def test_a_plan_names_the_address_and_needs_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``--dry-run`` asks nobody, with any provider; user and password in an address are not shown."""
    named = named_address(tmp_path, ELSEWHERE)
    arguments = [*named[:2], *named[-2:], "--dry-run"]
    for name, provider in PROVIDERS.items():
        monkeypatch.delenv(provider.keys[0], raising=False)
        url = "http://me:pass@localhost:1/v1?key=abc"
        code, out, _ = aggregate(*arguments, "--provider", name, "--model", "m", "--base-url", url)
        assert code == 0
        assert "at http://localhost:1/v1\n" in out


@pytest.mark.parametrize(
    ("url", "inside"),
    [
        ("http://localhost:8080/v1", True), ("http://127.0.0.1", True), ("http://[::1]:1", True), ("http://127.9.9.9", True),
        ("http://LOCALHOST.", True), ("http://app.localhost", True),
        ("http://localhost.example", False), ("http://127.0.0.1.example", False), ("http://localhost@attacker.example", False),
        ("http://attacker.example\\@localhost", False), ("http://attacker.example#@localhost", False), ("", False),
        ("http://0x7f.1.attacker.example", False), ("http://10.0.0.1", False), ("http://attacker.example/localhost", False),
    ],
)  # fmt: skip
def test_what_this_machine_is(url: str, inside: bool) -> None:
    """Whatever an address looks like, its host decides; one that programs read differently is nowhere."""
    assert is_loopback(url) is inside


def test_origins_and_what_is_shown() -> None:
    """Scheme, host and port make the origin; names, passwords and queries are never shown."""
    for url, made in (
        ("HTTPS://Example.com/v1", "https://example.com:443"),
        ("https://example.com:443", "https://example.com:443"),
        ("http://example.com", "http://example.com:80"),
        ("http://[::1]:80/", "http://[::1]:80"),
        ("example.com", ""),
        ("ftp://example.com", ""),
        ("https://a\\b", ""),
    ):
        assert origin(url) == made
    assert display_address("https://me:pass@[::1]:8080/v1?key=k#f") == "https://[::1]:8080/v1"


@pytest.mark.parametrize(
    ("host", "inside"),
    [("127.0.0.2", True), ("::1", True), ("LOCALHOST", True), ("0.0.0.0", False), ("::", False), ("", False), ("127.1.example", False)],  # noqa: S104
)  # fmt: skip
def test_where_only_this_machine_listens(host: str, inside: bool) -> None:
    """One answer for all servers of ours; only version 6 is put in brackets."""
    assert is_loopback_host(host) is inside
    assert host_in_url(host) == (f"[{host}]" if ":" in host else host)
