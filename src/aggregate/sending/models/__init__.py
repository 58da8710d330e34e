"""What models' names tell, and what one answers: a reply, why it stopped, the tokens that it cost."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.sending.models.models import *
else:
    __getattr__ = door(
        __name__,
        {
            "models": "AZURE BEDROCK CLOUDS FinishReason Reply Usage VERTEX api_family bare_model_name reported_fields reported_tokens"
        },
    )
