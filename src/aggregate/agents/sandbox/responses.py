"""What a sandbox answers: bytes that the code in it may have forged, read so that nothing but plain data comes out."""

import json
import re
from typing import Any

from aggregate.agents.sandbox.limits import CONTAINERS, ERROR_CHARACTERS
from aggregate.base.errors import SandboxError, Stopped
from aggregate.base.values import Value

_HALF_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")


def parse_answer(text: bytes) -> Value:
    """Return the JSON value of an answer.

    Raises:
        SandboxError: It is no JSON in UTF-8, too deep, has too many parts or numbers too long, or holds half of a
            surrogate pair, which is no text.
    """
    if text.count(b"[") + text.count(b"{") > CONTAINERS:
        raise SandboxError(
            f"the answer holds more than {CONTAINERS} lists and objects", kind=Stopped.MEMORY
        )
    try:
        value = json.loads(text.decode("utf-8"))
        if _HALF_PAIR.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except MemoryError:
        raise SandboxError("the answer does not fit into memory", kind=Stopped.MEMORY) from None
    except (ValueError, RecursionError) as error:
        raise SandboxError(
            f"the answer cannot be read: {shorten_error(str(error))}", kind=Stopped.CRASH
        ) from None
    return value


def parse_reply(text: bytes) -> dict[str, Any]:
    """Return the object that a sandbox's own program answers: with ``value``, or as a ``SandboxError``.

    Raises:
        SandboxError: The code failed, or the answer has another form than the one agreed on.
    """
    reply = parse_answer(text)
    if not isinstance(reply, dict):
        raise SandboxError("the answer cannot be read: it is no object", kind=Stopped.CRASH)
    if "value" in reply:
        return reply
    kind = reply.get("kind")
    name, message = (
        part if isinstance(part := reply.get(key), str) else "" for key in ("exception", "error")
    )
    raise SandboxError(
        shorten_error(message) or "the code failed and did not say why",
        kind=Stopped(kind) if kind in list(Stopped) else Stopped.RUNTIME,
        exception=name[:100],
    )


def shorten_error(text: str) -> str:
    """Return an error's text cut to what a reader can use."""
    if len(text) <= ERROR_CHARACTERS:
        return text
    return f"{text[:ERROR_CHARACTERS]}... ({len(text) - ERROR_CHARACTERS} more characters)"
