"""What answers where an API should must get neither key nor prompt, and end a request soon with one sentence."""

import socket
import ssl
from typing import Any

import pytest
from httpx2 import ReadTimeout

from aggregate import (
    ChatRequest,
    Client,
    ClientSetupError,
    Prompt,
    ProviderError,
    Usage,
    open_client,
)
from aggregate.sending.clients import PROVIDERS, Retry, anthropic_api, gemini_api, openai_api
from aggregate.sending.clients.anthropic_api import AnthropicApi
from aggregate.sending.clients.connection import (
    ApiKey,
    ConnectionLimits,
    SdkApi,
    SdkErrorTranslator,
)
from aggregate.sending.clients.gemini_api import GeminiApi
from aggregate.sending.clients.openai_api import OpenAiApi
from tests.fakes.senders import event, sending
from tests.hostile.running import ends
from tests.hostile.servers import answering, black_hole, redirecting, trap

KEY = "sk-planted-4711"
KEYS = {provider.keys[0]: KEY for provider in PROVIDERS.values()}
TOO_LONG = "sent more than 4,000 bytes, too many for an answer: check the address"
NEVER_AGAIN = Retry(first=60.0)
"""A second attempt would be seen: it waits for a minute."""
ONCE = Retry(attempts=1)
ADAPTERS: dict[str, type[SdkApi]] = {
    "anthropic": AnthropicApi,
    "openai": OpenAiApi,
    "gemini": GeminiApi,
}
every_adapter = pytest.mark.parametrize(
    "provider", ["anthropic", "minimax", "openai", "deepseek", "compatible", "gemini"]
)
every_sdk = pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini"])
streamed_or_not = pytest.mark.parametrize("streamed", [True, False])


def ask(
    provider: str, url: str, *, streamed: bool = False, retry: Retry = NEVER_AGAIN, **more: Any
) -> ProviderError:
    client = open_client(provider, model="m", base_url=url, environ=KEYS, retry=retry, **more)
    with pytest.raises(ProviderError) as caught:
        client.send(
            ChatRequest(Prompt(()), "the whole prompt"), (lambda _: None) if streamed else None
        )
    return caught.value


def reach(
    provider: str,
    url: str,
    limits: ConnectionLimits,
    *,
    streamed: bool = False,
    retry: Retry = NEVER_AGAIN,
) -> ProviderError:
    client = Client(
        provider, ADAPTERS[provider](provider, ApiKey(KEY), url, limits=limits), "m", retry
    )
    with ends(), pytest.raises(ProviderError) as caught:
        client.send(ChatRequest(Prompt(()), "Why?"), (lambda _: None) if streamed else None)
    return caught.value


@every_adapter
@pytest.mark.parametrize(("streamed", "status"), [(True, 302), (False, 307)])
def test_no_redirect_is_followed(provider: str, streamed: bool, status: int) -> None:
    """Neither the key nor the prompt reaches another host; the error says where to, without what may be secret."""
    with (
        trap() as other,
        redirecting(status, f"http://localhost:{other.port}/v1?key={KEY}#x") as url,
    ):
        error = ask(provider, url, streamed=streamed)
    assert other.requests == []
    assert str(error) == (
        f"{provider} answered {status}, a redirect to http://localhost:{other.port}/v1, which is not followed: "
        "if the address is right, set it with --base-url"
    )
    assert not error.retryable


@every_sdk
def test_no_redirect_is_followed_to_the_same_host(provider: str) -> None:
    """Not there either: the scheme could be one without encryption, and the path another program's."""
    with answering(308, "", location="/elsewhere") as url:
        error = ask(provider, url)
    assert f"a redirect to {url}/elsewhere, which is not followed" in str(error)


@every_sdk
def test_a_server_that_does_not_answer_the_call(provider: str) -> None:
    """The connection has a limit of its own, far below that of the answer; 10 s where nothing is said."""
    assert ConnectionLimits() == ConnectionLimits(connect=10.0, read=600.0)
    with black_hole() as url:
        secret_url = url.replace("://", "://me:pass-77@") + "/?key=pass-77"
        error = reach(provider, secret_url, ConnectionLimits(connect=0.2), retry=ONCE)
    said = f"{provider} cannot be reached at {url}: it did not accept a connection in time"
    assert str(error).startswith(said)
    assert "pass-77" not in str(error)
    assert error.retryable


@every_sdk
def test_a_server_that_is_not_running(provider: str) -> None:
    """The address and what to do are said, not how many attempts a library has made."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    error = reach(provider, f"http://127.0.0.1:{port}", ConnectionLimits(), retry=ONCE)
    assert str(error) == (
        f"{provider} cannot be reached at http://127.0.0.1:{port}: nothing listens there: start the server, or check "
        "the address"
    )


@every_sdk
def test_a_server_that_says_nothing(provider: str) -> None:
    """It has accepted the connection: the limit for the answer holds, whatever limits the SDK sets."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        error = reach(provider, url, ConnectionLimits(read=0.3), retry=ONCE)
    assert str(error).startswith(f"{provider} did not answer in time")
    assert error.retryable


@every_sdk
@streamed_or_not
@pytest.mark.parametrize("status", [200, 404])
def test_a_web_page_is_no_answer(provider: str, streamed: bool, status: int) -> None:
    """It is said, and not asked again."""
    with answering(
        status, "<!doctype html><p>Welcome", content_type="text/html; charset=utf-8"
    ) as url:
        error = ask(provider, url, streamed=streamed)
    said = f"a web page instead of an answer (status {status}): check the address"
    assert str(error) == f"{provider} sent {said}"
    assert not error.retryable


@every_sdk
@streamed_or_not
def test_an_answer_without_end(provider: str, streamed: bool) -> None:
    """It ends at a limit that no real answer reaches, and is not asked for again."""
    with sending(" " * 5_000) as url:
        error = reach(provider, url, ConnectionLimits(size=4_000), streamed=streamed)
    assert str(error) == f"{provider} {TOO_LONG}"


@every_sdk
@streamed_or_not
def test_a_compressed_answer_is_not_unpacked(provider: str, streamed: bool) -> None:
    """A small one could fill the memory; none is asked for, so no server sends one unless it wants to."""
    with answering(200, "small", content_encoding="gzip") as url:
        error = ask(provider, url, streamed=streamed)
    assert str(error).startswith(
        f"{provider} sent a compressed answer (gzip) without a request for that"
    )


@pytest.mark.parametrize("content", [5, ["a"], {"a": 1}])
def test_a_piece_that_is_no_text(content: object) -> None:
    """Content in another format is not an answer; the error is one sentence (S-14)."""
    piece = {"id": "x", "model": "m", "choices": [{"index": 0, "delta": {"content": content}}]}
    with sending(event(piece)) as url:
        error = ask("openai", url, streamed=True, retry=ONCE)
    assert str(error) == "openai sent an unreadable answer: the answer broke off before its end"


NONSENSE = (-5, 10**30, float("nan"), float("inf"), "many", "12", [1], {"a": 1}, None, True)


@pytest.mark.parametrize("tokens", NONSENSE, ids=repr)
def test_tokens_that_are_no_number_lose_no_answer(tokens: Any) -> None:
    """What a server reports as its usage, or in its place, is counted as nothing where it is nonsense; the answer is an answer."""
    names = "input_tokens output_tokens prompt_tokens completion_tokens cached prompt_token_count"
    usage = dict.fromkeys(names.split(), tokens) | {
        "prompt_tokens_details": {"cached_tokens": tokens}
    }
    choice = {"finish_reason": "stop", "message": {"content": "Yes."}}
    message = {"content": [{"type": "text", "text": "Yes."}], "stop_reason": "end_turn"}
    part = {"candidates": [{"content": {"parts": [{"text": "Yes."}]}, "finish_reason": "STOP"}]}
    replies = (
        *(openai_api.parse_reply({"choices": [choice], "usage": one}) for one in (usage, tokens)),
        *(anthropic_api.parse_reply({**message, "usage": one}) for one in (usage, tokens)),
        gemini_api.parse_reply([{**part, "usage_metadata": usage}]),
    )
    assert [(reply.text, reply.usage) for reply in replies] == [("Yes.", Usage())] * 5


@every_sdk
def test_a_server_without_tls(provider: str) -> None:
    """It is asked once, and the sentence says what to write."""
    with answering(200, "{}") as url:
        error = ask(provider, url.replace("http://", "https://"))
    said = "does not speak TLS: write http:// instead of https:// if the server is your own"
    assert str(error) == f"{provider} {said}"
    assert not error.retryable


def failing(error: BaseException) -> ProviderError:
    wrapped = ArithmeticError("Connection error.")
    wrapped.__cause__ = error
    with (
        pytest.raises(ProviderError) as caught,
        SdkErrorTranslator("anthropic", ApiKey(KEY), ArithmeticError),
    ):
        raise wrapped
    return caught.value


def test_what_will_not_pass_is_not_tried_again() -> None:
    """A certificate that nobody vouches for, a host that is not: one sentence, whatever the SDK makes of it."""
    untrusted = ssl.SSLCertVerificationError(1, "certificate verify failed")
    untrusted.verify_message = "self-signed certificate"
    for error, said, again in (
        (untrusted, "cannot be trusted: self-signed certificate; check the address", False),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "cannot be reached: no such host: check the address", False),
        (socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"), "", True),
    ):  # fmt: skip
        made = failing(error)
        assert str(made).startswith(f"anthropic {said}")
        assert made.retryable is again


def test_what_the_caller_handles_is_not_the_servers_failure() -> None:
    """A time-out while an application looks after another server's certificate stays a time-out."""

    def time_out_meanwhile() -> None:
        try:
            raise ssl.SSLCertVerificationError(1, "another server")
        except ssl.SSLCertVerificationError:
            with SdkErrorTranslator("anthropic", ApiKey(KEY), ArithmeticError):
                raise ReadTimeout("the read operation timed out") from None

    with pytest.raises(ProviderError, match=r"^anthropic did not answer in time: ") as caught:
        time_out_meanwhile()
    assert caught.value.retryable


NO_SCHEME = "does not begin with http:// or https://: write "


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("localhost:8080/v1", NO_SCHEME + "http://localhost:8080/v1"),
        ("gateway.example/v1", NO_SCHEME + "https://gateway.example/v1"),
        ("ftp://gateway.example", NO_SCHEME + "https://gateway.example"),
        ("https://", "has no host"),
        ("https://[::bad", "cannot be read"),
        ("https://a\\@b", "cannot be read"),
        ("http://a:port", "cannot be read"),
    ],
)
def test_what_is_no_address_is_said_before_anything_is_sent(url: str, message: str) -> None:
    """What to write instead, in one sentence."""
    with pytest.raises(ClientSetupError) as caught:
        open_client("compatible", model="m", base_url=url, environ={})
    assert message in str(caught.value)


def test_a_key_is_not_shown() -> None:
    """Neither one that no header can hold, which an HTTP library's error would repeat, nor as it stands in an address."""
    said = "^the key in OPENAI_API_KEY contains a blank or an invalid character: set it again$"
    with pytest.raises(ClientSetupError, match=said):
        open_client("openai", environ={"OPENAI_API_KEY": "sk-planted\nX: y"})
    repeated = "GET /v1?key=a%2Bb%2Fc%3D%3Dd: a+b/c==d"
    assert ApiKey("a+b/c==d").hide(repeated) == "GET /v1?key=(hidden): (hidden)"
