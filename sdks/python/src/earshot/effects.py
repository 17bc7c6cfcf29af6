"""
The input and output that the policies need.

A policy (a call with its retries, a follower, a named reader) is a generator: it yields an effect, and gets its outcome. It
never waits itself. Each client performs the effects in its own way, so that there is one implementation of each policy.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, Union


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes
    """Empty if the answer is a stream, which `Read` reads."""

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


@dataclass(frozen=True)
class Send:
    """Sends a request once. The outcome is the `Answer`."""

    method: str
    url: str
    headers: Mapping[str, str]
    timeout: float
    """Seconds for the whole exchange; of a stream, until the connection is open."""

    query: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    silence_max: float | None = None
    """If set, a successful answer stays open, and each read may take this long."""


@dataclass(frozen=True)
class Read:
    """Reads the next bytes of the stream. The outcome is `None` at its end."""


@dataclass(frozen=True)
class Sleep:
    seconds: float


@dataclass(frozen=True)
class Notify:
    """Calls a function of the user's program, and waits for it."""

    listener: Callable[[Any], object]
    argument: object


@dataclass(frozen=True)
class Item:
    """Passes a value to the user's loop."""

    value: Any


Effect = Union[Send, Read, Sleep, Notify, Item]

Result = TypeVar("Result")

Policy = Generator[Effect, Any, Result]


def advance(policy: Policy[Any], outcome: object) -> Effect:
    """Gives a policy the outcome of its last effect, and returns the next effect."""
    if isinstance(outcome, Exception):
        return policy.throw(outcome)
    return policy.send(outcome)
