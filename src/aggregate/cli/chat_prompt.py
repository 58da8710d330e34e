"""Editing the messages of ``chat`` with prompt_toolkit."""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import click
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from aggregate.base.disk.writing import create_private, private_folder, state_folder
from aggregate.base.errors import AggregateError
from aggregate.cli.chat_commands import completions
from aggregate.cli.chat_lines import TypedLines
from aggregate.cli.chat_session import ChatSession


class EditedLines(TypedLines):
    """Reads messages from an editor: Enter sends, Alt-Enter begins a new line."""

    def __init__(self, session: ChatSession) -> None:
        self._session = session
        self._history = _History(state_folder(session.project().folder) / "chat_history")
        self._prompt: PromptSession[str] = PromptSession(
            history=self._history,
            completer=_Completer(session),
            complete_in_thread=True,
            key_bindings=_keys(),
            multiline=True,
            tempfile_suffix=".md",
            bottom_toolbar=lambda: " · ".join(session.standing()),
        )

    def read(self, label: str) -> str:
        return self._prompt.prompt(f"{label}> ", default=self._session.take_draft())

    def remember(self, messages: Sequence[str]) -> None:
        self._history.messages = list(messages)


class _History(FileHistory):
    """The history of input: the project's private file, then the discussion's messages."""

    messages: Sequence[str] = ()

    def load_history_strings(self) -> Iterable[str]:  # the last one first
        typed: list[str] = []
        with suppress(OSError):
            typed = list(super().load_history_strings())
        return dict.fromkeys((*typed, *reversed(self.messages)))

    def store_string(self, string: str) -> None:
        path = Path(os.fsdecode(self.filename))
        with suppress(OSError):  # a chat works without a history
            if not path.exists():
                private_folder(path.parent)
                os.close(create_private(path))
            super().store_string(string)


class _Completer(Completer):
    def __init__(self, session: ChatSession) -> None:
        self._session, self._context = session, click.get_current_context()

    def get_completions(self, document: Document, _event: CompleteEvent) -> Iterable[Completion]:
        prefix = document.text_before_cursor
        word = "" if not prefix or prefix[-1].isspace() else prefix.split()[-1]
        with suppress(AggregateError), self._context.scope(cleanup=False):  # in a thread of its own
            for text, meta in completions(self._session, prefix.removesuffix(word), word).items():
                yield Completion(text, -len(word), display_meta=meta)


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state and buffer.complete_state.current_completion:
            buffer.complete_state = None  # accept the completion without sending
        elif buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @keys.add("c-x", "c-e")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.open_in_editor()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys
