"""The download of a file."""

from __future__ import annotations

from collections.abc import Mapping

from .call import send
from .calls import OPERATIONS
from .effects import Item, Policy, Read
from .errors import error_from_answer
from .request import Connection

DEFAULT_SILENCE_MAX = 60.0


def export(
    connection: Connection, request: Mapping[str, object], silence_max: float | None
) -> Policy[None]:
    """Passes on the bytes as they arrive. A download that is cut raises an error."""
    silence = DEFAULT_SILENCE_MAX if silence_max is None else silence_max
    answer = yield send(connection, OPERATIONS["ExportMatches"], request, {}, silence, silence)
    if not answer.is_success:
        raise error_from_answer(answer.status, answer.headers, answer.body)
    while True:
        piece = yield Read()
        if piece is None:
            return
        yield Item(piece)
