"""The program ``gemini``: a prompt on its standard input, events as JSON lines on its standard output.

It runs in an empty folder of its own, because it looks up every ``@name`` in a prompt below its working directory and
would attach what it finds; where nothing can be found it leaves the text as it is.
"""

import asyncio
import json
import os
import re
import signal
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import PIPE, Process
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from aggregate.base.disk.programs import find_program, search_path
from aggregate.base.disk.writing import STATE_VARIABLE, private_folder, user_state_folder
from aggregate.base.errors import ClientSetupError, OutputError, ProviderError
from aggregate.prompt.document import SEPARATOR
from aggregate.sending.cache.request_plan import RequestPlan
from aggregate.sending.clients.connection import ApiKey
from aggregate.sending.clients.protocol import ChatRequest, OnText
from aggregate.sending.models import FinishReason, Reply, Usage, reported_fields, reported_tokens

# A little less than the 8 MiB at which the program cuts its standard input off.
_MOST_BYTES = 8_000_000
_LONGEST_LINE = 64_000_000  # bytes of one line, which holds one event: more than any answer has
_NO_RESULT = "it ended without a result"
_TRANSIENT = ("429", "500", "503", "overloaded", "exhausted", "unavailable")
_REASONS = {
    41: "is not signed in: run gemini once, or set GEMINI_API_KEY",
    42: "did not accept the prompt",
    52: "cannot use its configuration",
}
# The environment's variables that the program needs: how to run on this machine, and its own; no other's key.
_VARIABLES = re.compile(
    "PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|TZ|TERM|TMPDIR|TEMP|TMP"
    "|(HTTP|HTTPS|ALL|NO)_PROXY|SSL_CERT_(FILE|DIR)|(GEMINI|GOOGLE|CLOUDSDK|LC|XDG)_.*"
    # what launchers of Node and Windows need
    "|NODE_(EXTRA_CA_CERTS|OPTIONS|PATH|USE_SYSTEM_CA)|NVM_(DIR|BIN)|VOLTA_HOME|ASDF_(DATA_)?DIR"
    "|MISE_DATA_DIR|FNM_DIR|SYSTEMROOT|WINDIR|COMSPEC|PATHEXT|(LOCAL)?APPDATA|USERPROFILE|PROGRAMDATA",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class GeminiCli:
    program: str = "gemini"
    key: ApiKey | None = None
    seconds: float = 600.0

    async def exchange(self, request: ChatRequest, on_text: OnText | None) -> Reply:
        program = find_program(self.program)
        if program is None:
            raise ClientSetupError(
                f"the program {self.program} is not on PATH: run npm install -g @google/gemini-cli, "
                "or use --provider gemini"
            )
        text = input_text(request.plan).encode("utf-8", "replace")
        if len(text) > _MOST_BYTES:
            raise ProviderError(
                f"gemini-cli reads at most {_MOST_BYTES:,} bytes and the prompt has {len(text):,}: "
                "use --provider gemini"
            )
        variables = os.environ.items()
        environment = {name: value for name, value in variables if _VARIABLES.fullmatch(name)}
        with _empty_folder() as folder:
            process = await asyncio.create_subprocess_exec(
                program,
                *command_arguments(request),
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                cwd=folder,
                limit=_LONGEST_LINE,
                env=environment | {"PATH": search_path()},
                start_new_session=True,
            )
            try:
                async with asyncio.timeout(self.seconds):
                    return await self._answer(process, text, on_text)
            except TimeoutError:
                raise ProviderError("gemini-cli did not answer in time", retryable=True) from None
            except (ValueError, TypeError, AttributeError) as error:
                raise ProviderError(
                    f"gemini-cli wrote what cannot be read: {error!s:.100}"
                ) from None
            finally:  # also what it started, and when the request was cancelled
                if process.returncode is None:
                    with suppress(ProcessLookupError):
                        has_groups = hasattr(os, "killpg")
                        os.killpg(process.pid, signal.SIGKILL) if has_groups else process.kill()
                    await process.wait()

    async def _answer(self, process: Process, text: bytes, on_text: OnText | None) -> Reply:
        output, errors = cast("StreamReader", process.stdout), cast("StreamReader", process.stderr)
        writing = _write(cast("StreamWriter", process.stdin), text)
        events, notices, _ = await asyncio.gather(_events(output, on_text), errors.read(), writing)
        exit_code = await process.wait()
        reply, failure = parse_reply(events)
        if exit_code or failure:
            raise self._error(exit_code, failure, notices.decode("utf-8", "replace"))
        return reply

    def _error(self, exit_code: int, failure: str, notices: str) -> ProviderError:
        lines = notices.strip().splitlines()
        last_line = lines[-1] if lines else f"exit code {exit_code}"
        ended_early = exit_code and failure == _NO_RESULT
        message = last_line if ended_early or not failure else failure
        message = self.key.hide(message) if self.key else message
        reason = _REASONS.get(exit_code, "failed")
        is_transient = any(word in message.lower() for word in _TRANSIENT)
        return ProviderError(
            f"gemini-cli {reason}: {message[:300]}", retryable=exit_code == 1 and is_transient
        )


def command_arguments(request: ChatRequest) -> list[str]:
    model = ["--model", request.model] if request.model else []
    return ["--output-format", "stream-json", "--skip-trust", *model]


def input_text(plan: RequestPlan) -> str:
    """Return what goes to standard input: instructions and prompt; a slash at the start would be a command."""
    text = SEPARATOR.join(part for part in (plan.system, plan.text) if part)
    return f"Prompt:{SEPARATOR}{text}" if text.startswith("/") else text


def parse_reply(events: Sequence[Mapping[str, Any]]) -> tuple[Reply, str]:
    text, model, failure = "", "", ""
    stats: dict[str, Any] = {}
    has_result = False
    for event in events:
        text += _answer_text(event)
        kind = event.get("type")
        if kind == "init":
            model = str(event.get("model") or "")
        elif kind == "error" and event.get("severity") != "warning":
            failure = str(event.get("message") or "error")
        elif kind == "result":
            has_result = True
            stats = reported_fields(event.get("stats"))
            if event.get("status") == "success":
                failure = ""
            else:
                failure = str((event.get("error") or {}).get("message") or failure or "error")
    if not has_result and not failure:
        failure = _NO_RESULT
    return Reply(text, parse_usage(stats), FinishReason.END, model, {"stats": stats}), failure


def parse_usage(stats: Mapping[str, Any]) -> Usage:
    """Return the usage; ``input_tokens`` includes what was read from the cache."""
    read = reported_tokens(stats.get("cached"))
    fresh = max(reported_tokens(stats.get("input_tokens")) - read, 0)
    return Usage(fresh, 0, read, reported_tokens(stats.get("output_tokens")))


@contextmanager
def _empty_folder() -> Iterator[Path]:
    """Give an empty folder for the user alone, which is removed at the end.

    It lies in the user's own state folder: the program reads settings in the folders above, and would find in the
    system's temporary folder what anybody on the machine has put there.
    """
    parent = (user_state_folder() or Path(os.devnull)) / "empty"
    try:
        private_folder(parent)
        folder = TemporaryDirectory(dir=parent, ignore_cleanup_errors=True)
    except OSError as error:
        raise OutputError(
            f"cannot make a folder in {parent}: {error.strerror or error}: set {STATE_VARIABLE}"
        ) from None
    with folder as path:
        yield Path(path)


async def _events(output: StreamReader, on_text: OnText | None) -> list[dict[str, Any]]:
    events = []
    async for line in output:
        try:
            event = json.loads(line)
        except ValueError:
            continue  # a notice among the events
        if isinstance(event, dict):
            events.append(event)
            if on_text and (text := _answer_text(event)):
                on_text(text)
    return events


def _answer_text(event: Mapping[str, Any]) -> str:
    if event.get("type") != "message" or event.get("role") != "assistant":
        return ""
    return str(event.get("content") or "")


async def _write(program: StreamWriter, text: bytes) -> None:
    with suppress(BrokenPipeError, ConnectionResetError):  # it ended early and says why on its own
        program.write(text)
        await program.drain()
        program.close()
