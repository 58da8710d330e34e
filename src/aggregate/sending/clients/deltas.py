"""Assemble streamed messages of OpenAI-compatible servers, whose pieces differ."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from aggregate.sending.clients.connection import mappings
from aggregate.sending.models import reported_fields

_TEXTS: Final = ("refusal", "reasoning_content", "reasoning")
# Streamed fields of a thought.
_GROWING: Final = ("text", "summary", "thinking")
_OPEN, _CLOSE = "<think>", "</think>"


@dataclass(slots=True)
class LeadingThoughts:
    """Removes a leading ``<think>`` block from a streamed text."""

    is_open: bool = False  # the text has no block, or the block has ended
    _held: str = ""
    _is_over: bool = False

    def without(self, piece: str) -> str:
        """Return the part of a piece that is not thoughts, ``""`` as long as that is unknown."""
        if self.is_open:
            return piece
        start = max(len(self._held) - len(_CLOSE), 0)
        self._held += piece
        text = self._held.lstrip()
        if not (text.startswith(_OPEN) or self._is_over):
            return "" if _OPEN.startswith(text) else self._release(self._held)
        if not self._is_over:
            end = self._held.find(_CLOSE, start)
            if end < 0:
                return ""
            self._is_over = True
            text = self._held = self._held[end + len(_CLOSE) :].lstrip()
        return self._release(text) if text else ""

    def rest(self, *, is_cut: bool) -> str:
        """Return the text held back at the end.

        An unclosed block is the answer, unless a limit cut it.
        """
        is_thought = is_cut and self._held.lstrip().startswith(_OPEN)
        return self._release("" if self.is_open or is_thought else self._held)

    def _release(self, text: str) -> str:
        self.is_open, self._held = True, ""
        return text


def content_text(content: object) -> str:
    """Return the text of a message's content, which is a string or a list of parts."""
    if isinstance(content, str):
        return content
    parts = [reported_fields(part) for part in content] if isinstance(content, list) else ()
    texts = (
        part.get("text") for part in parts if part.get("type") in ("text", "output_text", None)
    )
    return "".join(text for text in texts if isinstance(text, str))


def add_delta(message: dict[str, Any], delta: Mapping[str, Any]) -> str:
    """Add a piece to a message; return the new text, including thoughts and arguments of calls."""
    pieces = [("content", content_text(delta.get("content")))]
    pieces += [(name, delta[name]) for name in _TEXTS if isinstance(delta.get(name), str)]
    for name, piece in pieces:
        message[name] = message.get(name, "") + piece
    for name in ("reasoning_details", "thinking_blocks"):
        for part in mappings(delta.get(name)):
            _add_thought(message.setdefault(name, []), part)
    calls = [_add_call(message, part) for part in mappings(delta.get("tool_calls"))]
    return "".join((*(piece for _, piece in pieces), *calls))


def _add_thought(thoughts: list[dict[str, Any]], part: dict[str, Any]) -> None:
    """Add a piece to the model's last thought; a signature ends a thought."""
    index, kind = part.get("index"), part.get("type")
    same_type = [thought for thought in thoughts if thought.get("type") == kind]
    earlier = same_type[-1] if same_type else None
    if index is not None:
        earlier = next((delta for delta in same_type if delta.get("index") == index), None)
    elif earlier and (earlier is not thoughts[-1] or earlier.get("signature")):
        earlier = None
    if earlier is None or (earlier.get("data") and part.get("data")):
        thoughts.append(dict(part))
        return
    for name, value in part.items():
        if name in _GROWING and isinstance(value, str):
            earlier[name] = (earlier.get(name) or "") + value
        elif value or name not in earlier:
            earlier[name] = value


def _add_call(message: dict[str, Any], part: Mapping[str, Any]) -> str:
    """Add a piece to its tool call, or begin one.

    Return the new arguments.
    """
    calls = message.setdefault("tool_calls", [])
    function = reported_fields(part.get("function"))
    arguments = function.pop("arguments", None)
    piece = "" if arguments is None else arguments
    piece = piece if isinstance(piece, str) else json.dumps(piece)
    call = _continued(calls, part, function)
    if call is None:
        call = {"type": "function", "function": {"arguments": ""}}
        calls.append(call)
    for name, value in part.items():
        if value not in (None, "") and name != "function":
            call.setdefault(name, value)
    call["function"] |= {name: value for name, value in function.items() if value}
    call["function"]["arguments"] += piece
    return piece


def _continued(
    calls: list[dict[str, Any]], part: Mapping[str, Any], function: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the tool call continued by a piece.

    ``None`` if the piece begins a new call. Servers omit the index, begin with 1, or use one for all calls; some repeat
    id and name in every piece.
    """
    identity, index, name = part.get("id"), part.get("index"), function.get("name")
    for call in calls:
        if identity and call.get("id") == identity:
            return call
    candidates = [call for call in calls if index is None or call.get("index") == index]
    last = candidates[-1] if candidates else None
    if last is None or not (identity or name):
        return last
    is_other = identity and last.get("id")
    is_new = name and (name != last["function"].get("name") or _is_whole(last))
    if (index is None and (is_other or is_new)) or (is_other and is_new):
        return None
    return last


def _is_whole(call: Mapping[str, Any]) -> bool:
    try:
        json.loads(call["function"]["arguments"])
    except ValueError:
        return False
    return True
