"""The panel: a local web page to compose prompts."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.panel.access import NOBODY, Access, connection_owner
    from aggregate.panel.answers import Broadcast
    from aggregate.panel.app import Panel
    from aggregate.panel.colours import code_colours, fenced_colours
    from aggregate.panel.composer import ComposedDraft, Composer
    from aggregate.panel.draft import ConflictError, Draft
    from aggregate.panel.edits import Surroundings, apply_edits
    from aggregate.panel.page_session import Event, Session
    from aggregate.panel.sending import Sender
    from aggregate.panel.serving import Address, open_listener, serve_panel, server, watch_disk
else:
    __getattr__ = door(
        __name__,
        {
            "access": "Access connection_owner NOBODY",
            "answers": "Broadcast",
            "app": "Panel",
            "colours": "code_colours fenced_colours",
            "composer": "ComposedDraft Composer",
            "draft": "ConflictError Draft",
            "edits": "apply_edits Surroundings",
            "page_session": "Event Session",
            "sending": "Sender",
            "serving": "Address open_listener serve_panel server watch_disk",
        },
    )
