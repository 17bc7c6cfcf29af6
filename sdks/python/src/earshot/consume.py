"""Reading with a named reader."""

from __future__ import annotations

from collections.abc import Mapping

from .call import call
from .calls import OPERATIONS
from .effects import Item, Notify, Policy
from .errors import EarshotError, is_restored
from .follow import RemovalListener, RestoreListener
from .request import Connection

WAIT_SECONDS = 30


def consume(
    connection: Connection,
    request: Mapping[str, object],
    timeout: float,
    *,
    until_empty: bool,
    on_removed: RemovalListener | None,
    on_restored: RestoreListener | None,
) -> Policy[None]:
    """
    Acknowledges a page when the loop requests the next one. If the program leaves the loop or crashes, it gets the page
    again: delivery is at least once.
    """
    page = dict(request)
    if page.get("wait_seconds") is None:
        page["wait_seconds"] = 0 if until_empty else WAIT_SECONDS
    while True:
        answer = yield from call(connection, OPERATIONS["ReadMatches"], page, timeout)
        for match in answer["matches"]:
            yield Item(match)
        for removal in answer.get("removed", []):
            if on_removed:
                yield Notify(on_removed, removal)
        if answer["cursor"] is None:
            if until_empty:
                return
            continue
        acknowledged = {"reader": page["reader"], "cursor": answer["cursor"]}
        try:
            yield from call(connection, OPERATIONS["AckMatches"], acknowledged, timeout)
        except EarshotError as error:
            # Earshot and the reader were restored to an earlier state. The reader continues from there.
            if not is_restored(error):
                raise
            if on_restored:
                yield Notify(on_restored, error)
