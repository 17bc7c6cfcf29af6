"""Operations, and the requests that they send."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import urlsplit


class Omitted:
    """The type of `OMITTED`."""

    def __repr__(self) -> str:
        return "OMITTED"


OMITTED: Final = Omitted()
"""The default of arguments that may be `None`: the request does not have the field."""


@dataclass(frozen=True)
class Operation:
    """The part of the contract that the SDK needs at run time."""

    method: Literal["GET", "POST"]
    path: str
    changes: bool
    nullable: frozenset[str] = frozenset()
    """Fields whose value may be `None`. In all others, `None` means that the field is absent."""

    def fields_of(self, arguments: Mapping[str, object]) -> dict[str, object]:
        return {
            name: value
            for name, value in arguments.items()
            if value is not OMITTED and (value is not None or name in self.nullable)
        }


@dataclass(frozen=True)
class Connection:
    """The address of the server, and the key."""

    url: str
    key: str | None = field(repr=False)

    def headers(self) -> dict[str, str]:
        return {} if self.key is None else {"authorization": f"Bearer {self.key}"}


def connect(url: str, key: str | None) -> Connection:
    """Without this check, a missing variable of the environment would look like a server that does not answer."""
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except (AttributeError, TypeError, ValueError):
        is_valid = False
    if not isinstance(url, str) or not is_valid:
        given = f"It is {url!r}." if url else "It is missing."
        raise ValueError(
            'The argument "url" must be the URL of the server, such as '
            f'"https://earshot.example.com". {given}'
        )
    return Connection(url.rstrip("/"), key)
