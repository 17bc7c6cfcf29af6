"""Server-sent events."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from dataclasses import dataclass

# Not `str.splitlines`, which also splits at characters that may be in a text.
LINE_END = re.compile(r"\r\n|\n|\r")
# A carriage return at the end may be the first character of a line end.
LINE_END_WITHOUT_LAST = re.compile(r"\r\n|\n|\r(?!\Z)")


@dataclass(frozen=True)
class Event:
    id: str
    event: str
    data: str


class EventParser:
    """Drops an event that is incomplete at the end of the connection, as the standard requires."""

    retry: float | None = None
    """How many seconds the server requests to wait before the next connection."""

    def __init__(self) -> None:
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._id = ""
        self._event = ""
        self._data: list[str] = []

    def push(self, piece: bytes) -> list[Event]:
        """The events that this piece completes. Pieces may end anywhere."""
        text = self._rest + self._decoder.decode(piece)
        *lines, self._rest = (LINE_END_WITHOUT_LAST if text.endswith("\r") else LINE_END).split(text)
        return [event for event in map(self._take_line, lines) if event is not None]

    def _take_line(self, line: str) -> Event | None:
        if line == "":
            data, event = self._data, self._event
            self._data, self._event = [], ""
            return Event(self._id, event or "message", "\n".join(data)) if data else None
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "id":
            self._id = value
        elif name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
        elif name == "retry" and re.fullmatch("[0-9]+", value):
            self.retry = int(value) / 1000
        return None
