"""How much foreign code may use, every limit of every sandbox with its reason, and what may go in and come out.

``SandboxLimits`` is the caller's; the constants below are those of the machinery around it.

================== ======================= ============================== ==========================
limit              Monty                   bubblewrap                     QuickJS
================== ======================= ============================== ==========================
wall time          ``seconds``             ``seconds``                    ``seconds``
processor time     (one thread)            ``seconds`` + 1, all threads   (one thread)
memory of values   ``memory_bytes``        ``memory_bytes``               ``memory_bytes``
memory in all      (its own process)       + ``RUNTIME_BYTES``, watched   ``WORKER_BYTES``
result, printed    ``output_bytes`` each   ``output_bytes`` together      ``output_bytes``
code               ``SOURCE_CHARACTERS``   ``SOURCE_CHARACTERS``          ``SOURCE_CHARACTERS``
processes          none                    one, ``THREADS`` threads       none
files              none                    none can be written            none
================== ======================= ============================== ==========================
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Any, Final

from aggregate.base.errors import SandboxError, Stopped
from aggregate.base.json_forms import DEPTH, jsonable, message_text, type_name
from aggregate.base.values import Value

EXTRA: Final = "install manual-slop[sandbox]"  # what to do where a sandbox is missing

# Characters of one piece of code. Models write pages, not books; a parser's time and memory grow with the text.
SOURCE_CHARACTERS: Final = 65_536
# Characters of one error's text: it goes into prompts and logs, and code chooses it freely.
ERROR_CHARACTERS: Final = 2_000
# Lists and objects in one answer. An empty one is 3 bytes of JSON and 72 bytes in this process.
CONTAINERS: Final = 1_000_000
# Memory that Python and its libraries (NumPy, pandas) write to before any value of the code.
RUNTIME_BYTES: Final = 256 * 1024 * 1024
# Address space that these libraries map; most of it is read from files and never written.
ADDRESS_BYTES: Final = 768 * 1024 * 1024
THREADS: Final = 32  # each costs the kernel some 20 KB that no memory limit counts
OPEN_FILES: Final = 64  # descriptors: each pipe or socket may hold some hundred KB in the kernel
WATCH_SECONDS: Final = 0.05  # how often memory and threads of a running sandbox are looked at
# Address space of a JavaScript worker; the limit of one run is QuickJS's own.
WORKER_BYTES: Final = 1 << 30
JAVASCRIPT_STACK: Final = 1 << 20
# Promise jobs that one JavaScript run may queue: a chain without end is no loop that QuickJS's timer sees.
PROMISE_JOBS: Final = 100_000


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    seconds: float = 2.0  # of wall time; the run is ended by force shortly after it
    memory_bytes: int = 64 * 1024 * 1024  # that its values may take
    output_bytes: int = 16 * 1024 * 1024  # that it may print, and of its result as JSON

    def timeout(self, exception: str = "") -> SandboxError:
        text = f"stopped after {self.seconds:g} s"
        return SandboxError(text, kind=Stopped.TIMEOUT, exception=exception)


def check_length(source: str, what: str) -> None:
    if len(source) > SOURCE_CHARACTERS:
        raise SandboxError(f"the {what} has more than {SOURCE_CHARACTERS} characters")


_HALF_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")


def parse_answer(text: bytes) -> Value:
    """Return the JSON value of an answer, unless it has too many parts or holds half of a surrogate pair."""
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
    """Return the object that a sandbox's own program answers: with ``value``, or raised as a ``SandboxError``."""
    reply = parse_answer(text)
    if not isinstance(reply, dict):
        raise SandboxError("the answer cannot be read: it is no object", kind=Stopped.CRASH)
    if "value" in reply:
        return reply
    kind, name, message = (
        part if isinstance(part := reply.get(key), str) else ""
        for key in ("kind", "exception", "error")
    )
    raise SandboxError(
        shorten_error(message) or "the code failed and did not say why",
        kind=Stopped(kind) if kind in list(Stopped) else Stopped.RUNTIME,
        exception=name[:100],
    )


def shorten_error(text: str) -> str:
    if len(text) <= ERROR_CHARACTERS:
        return text
    return f"{text[:ERROR_CHARACTERS]}... ({len(text) - ERROR_CHARACTERS} more characters)"


LEAVES: Final = (str, int, float, bool, bytes, type(None), date, time, timedelta)


def plain_copy(value: Value) -> Value:
    """Return a copy of ``value`` made of plain types; never raises.

    Anything else, and what is nested deeper than ``DEPTH``, becomes what ``jsonable`` shows of it; what holds itself,
    its type's name. Half a surrogate pair in a text becomes the replacement character.
    """
    return _plain(value, {}, DEPTH)


def _plain(value: Value, copies: dict[int, tuple[Value, Value]], depth: int) -> Value:
    if type(value) is str:
        return _writable(value)
    if _leaf(value):
        return value
    if id(value) not in copies:
        # The value is held beside its copy, so that no other gets its id.
        copies[id(value)] = value, f"<{type_name(value)} that holds itself>"
        copies[id(value)] = value, _container(value, copies, depth - 1)
    return copies[id(value)][1]


def _container(value: Value, copies: dict[int, tuple[Value, Value]], depth: int) -> Value:
    kind = type(value)
    try:
        if depth > 0 and issubclass(kind, Mapping):
            return {_key(key): _plain(item, copies, depth) for key, item in value.items()}
        if depth > 0 and issubclass(kind, list | tuple):
            items = [_plain(item, copies, depth) for item in value]
            return items if issubclass(kind, list) else tuple(items)
        if issubclass(kind, set | frozenset):
            return {_key(item) for item in value}
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - the value's own code ran
        return _writable_json(jsonable(value))
    return _writable_json(jsonable(value))


def _writable_json(copy: Value) -> Value:
    if isinstance(copy, dict):
        return {_writable(key): _writable_json(item) for key, item in copy.items()}
    if isinstance(copy, list):
        return [_writable_json(item) for item in copy]
    return _writable(copy) if isinstance(copy, str) else copy


def _key(key: Value) -> Value:
    if type(key) is str:
        return _writable(key)
    return key if _leaf(key) else message_text(key)


def _writable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return str.__str__(text)


def _leaf(value: object) -> bool:
    return type(value) in LEAVES or issubclass(type(value), date)


def require_plain(value: Value) -> Value:
    """Return ``value`` if it holds no function, class or object."""
    pending, seen = [value], set[int]()
    while pending:
        item = pending.pop()
        if _leaf(item) or id(item) in seen:
            continue
        if not isinstance(item, dict | list | tuple | set | frozenset):
            raise SandboxError(f"the code returned a {type(item).__name__}, not plain data")
        seen.add(id(item))
        pending.extend(item.values() if isinstance(item, dict) else item)
    return value
