"""The panel: a local web page to compose prompts."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.panel.serving import serve_panel
else:
    __getattr__ = door(__name__, {"serving": "serve_panel"})
