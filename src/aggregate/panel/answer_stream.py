"""An answer as server-sent events, while it comes."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from aggregate.base.concurrency import run_in_thread
from aggregate.base.errors import AggregateError
from aggregate.panel.event_stream import event_text
from aggregate.panel.json_routes import sentence_of

if TYPE_CHECKING:
    from aggregate.panel.sending import Sender


async def answer_events(sender: "Sender", plan: str) -> AsyncIterator[bytes]:
    """Yield the answer as it comes; it is received and kept until it ends or is stopped, also without a page."""
    loop = asyncio.get_running_loop()
    events: asyncio.Queue[bytes | None] = asyncio.Queue()

    def put(event: bytes | None) -> None:
        with suppress(RuntimeError):  # the server has ended meanwhile, and its loop is closed
            loop.call_soon_threadsafe(events.put_nowait, event)

    def tell(name: str, data: Mapping[str, object]) -> None:
        put(event_text(name, data))

    def work() -> None:
        try:
            sentence = sender.send(
                plan,
                lambda text: tell("text", {"text": text}),
                lambda notice: tell("notice", {"sentence": notice}),
            )
            tell("done", {"sentence": sentence})
        except AggregateError as error:
            tell("failed", {"error": sentence_of(error)})
        except Exception as error:
            tell("failed", {"error": f"a fault of ours: {error!r}"})
            raise
        finally:
            put(None)

    run_in_thread("sending from the panel", work)
    while (event := await events.get()) is not None:
        yield event
