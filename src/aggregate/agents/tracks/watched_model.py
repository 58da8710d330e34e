"""A model that is watched while a ticket's steps ask it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from aggregate.agents.goals import Completion, Model, Question
from aggregate.base.errors import ClientError


@dataclass(slots=True)
class WatchedModel:
    """A model that says when its first answer has come, and keeps what the provider has raised last.

    Attributes:
        model: Answers.
        begun: Called when it has.
        charges: What each answer counts against a limit of tokens.
        error: What was raised last.
    """

    model: Model
    begun: Callable[[], None]
    charges: list[int] = field(default_factory=list)
    error: ClientError | None = None

    def ask(self, question: Question) -> Completion:
        """Return the answer; whatever is raised counts as no answer."""
        try:
            completion = self.model.ask(question)
        except ClientError as error:
            self.error = error
            raise
        charged = completion.tokens if completion.charged is None else completion.charged
        self.charges.append(charged)
        self.begun()
        return completion
