"""The messages of a request: files and what belongs to them as the user's first one, turns as whose they are.

Every text is a piece of the numbered prompt. A block of the document goes as it stands; of a turn go the words alone,
without the excerpt's heading, the role and the fence, because the message itself says who speaks. Pieces of one message
are kept apart by a blank line, as in the prompt.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from aggregate.base.values import SEPARATOR
from aggregate.sending.cache.request_plan import BlockRole, RequestBlock, RequestPlan


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A piece of a message.

    Attributes:
        text: What is sent, with the separator in front if another part stands before it in the message; ``""`` for an
            image.
        block: What it is made of.
    """

    text: str
    block: RequestBlock


@dataclass(frozen=True, slots=True)
class Message:
    """What one side says without a break.

    Attributes:
        is_assistant: Whether the model has said it.
        parts: At least one, each with text or an image.
    """

    is_assistant: bool
    parts: tuple[MessagePart, ...]

    @property
    def has_images(self) -> bool:
        """Whether a part is an image."""
        return any(part.block.image for part in self.parts)

    @property
    def text(self) -> str:
        """All words of it."""
        return "".join(part.text for part in self.parts)


def messages_of(plan: RequestPlan) -> tuple[Message, ...]:
    """Return the messages of a plan, by turns the user's and the model's; the last one is always the user's.

    Turns of the model that nothing follows are shown to it as the prompt has them, with heading and role: an answer
    that ends a request would be continued, or refused, by a model.
    """
    blocks = [block for block in plan.blocks if block.role is not BlockRole.SYSTEM]
    last = max(
        (place for place, block in enumerate(blocks) if block.role is not BlockRole.ASSISTANT),
        default=-1,
    )
    spoken = [
        (block.role is BlockRole.ASSISTANT and place < last, block)
        for place, block in enumerate(blocks)
    ]
    return tuple(
        Message(is_assistant, tuple(_parts(is_assistant, [block for _, block in said])))
        for is_assistant, said in groupby(spoken, key=lambda pair: pair[0])
    )


def _parts(is_assistant: bool, blocks: list[RequestBlock]) -> Iterator[MessagePart]:
    for place, block in enumerate(blocks):
        if block.image:
            yield MessagePart("", block)
            continue
        is_plain = is_assistant or block.role is BlockRole.USER
        text = block.words if is_plain else block.text.removeprefix(SEPARATOR)
        yield MessagePart(SEPARATOR + text if place else text, block)
