"""Telling pages of changes."""

import asyncio

from aggregate.panel.event_stream import Broadcast
from aggregate.panel.protocol import EventData

HELLO: EventData = {"version": "v", "revision": 1, "composed": 1, "what": "hello", "paths": []}


def test_the_oldest_page_is_let_go_for_one_too_many() -> None:
    """However many streams are opened, a hundred are kept; the newest ones hear of changes (E-7)."""

    async def answers() -> list[bool]:
        broadcast = Broadcast()
        streams = [broadcast.listen(HELLO) for _ in range(1_000)]
        for stream in streams:
            await anext(stream)
        broadcast.tell(HELLO)
        await asyncio.sleep(0)
        return [await anext(streams[number], None) is not None for number in (0, 899, 900, 999)]

    assert asyncio.run(answers()) == [False, False, True, True]
