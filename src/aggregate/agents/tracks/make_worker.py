"""The one place where workers are made of what the user names."""

from collections.abc import Callable, Collection, Mapping
from functools import cache, partial
from pathlib import Path

from aggregate.agents.tools import standard_tools
from aggregate.agents.tracks.recipient import Recipient
from aggregate.agents.tracks.recipients import check_model_name
from aggregate.agents.tracks.scripted_worker import ScriptedWorker
from aggregate.agents.tracks.terms import WorkerTerms
from aggregate.agents.tracks.worker import ModelWorker, Worker
from aggregate.base.errors import TrackError
from aggregate.sending.cache import SCRIPTED
from aggregate.sending.clients import (
    PROVIDERS,
    ChatClient,
    load_replies,
    open_client,
    with_redaction,
)


def make_worker(
    spec: str,
    *,
    script: Path | None = None,
    root: Path = Path(),
    redact: bool = True,
    allow: Collection[str] = (),
    tell: Callable[[str], None] | None = None,
    base_url: str = "",
    terms: WorkerTerms | None = None,
    clients: Mapping[Recipient, ChatClient] | None = None,
) -> Worker:
    """Return the worker that ``spec`` names.

    Args:
        spec: ``scripted``; ``scripted:<file>`` with answers by ticket id as TOML or JSON; or a provider of
            ``aggregate.sending.clients.providers`` with its model, as ``anthropic`` or ``anthropic:<model>``.
        script: Where ``scripted`` finds answers if the file exists.
        root: The folder that project tools may read.
        redact: Whether secrets are replaced in what a provider is sent.
        allow: Hashes of values that are no secrets.
        tell: Called with one sentence for each secret that was replaced.
        base_url: Where the provider is reached.
        terms: The tools and limits that the user allows; by default those that read ``root``, and the usual limits.
        clients: Those that reach the models of personas.

    Raises:
        TrackError: There is no such worker.
        ConfigError: The script cannot be used, or the model's name is a slip of a known one.
        ClientSetupError: A key or an address is missing.
    """
    provider, model = parse_worker(spec)
    if provider != SCRIPTED:
        safely = partial(with_redaction, allow=allow, tell=tell) if redact else _as_it_is
        client: ChatClient = safely(open_client(provider, model=model, base_url=base_url))
        usual = WorkerTerms(
            provider, model, base_url, standard_tools(state_dir=root / "state", roots=(root,))
        )
        return ModelWorker(
            client,
            root=root,
            terms=terms or usual,
            clients=clients or {},
            open_provider=cache(lambda name, model: safely(open_client(name, model=model))),
        )
    _, _, argument = spec.partition(":")
    if argument:
        return ScriptedWorker(load_replies(Path(argument)))
    if script is not None and script.is_file():
        return ScriptedWorker(load_replies(script))
    return ScriptedWorker({})


def parse_worker(spec: str) -> tuple[str, str]:
    """Return the provider that ``spec`` names and its model, ``""`` for the usual one.

    Raises:
        TrackError: There is no such worker.
        ConfigError: The model's name is a slip of a known one.
    """
    kind, _, argument = spec.partition(":")
    if kind == SCRIPTED:
        return SCRIPTED, ""
    if kind not in PROVIDERS:
        known = ", ".join(PROVIDERS)
        raise TrackError(
            f"there is no worker {spec!r}: take {SCRIPTED}, {SCRIPTED}:<file of answers>, or one of {known}"
        )
    check_model_name(kind, argument, named_by=f"the worker {spec!r}")
    return kind, argument


def _as_it_is(client: ChatClient) -> ChatClient:
    return client
