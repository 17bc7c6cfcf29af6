"""Webhook messages, and the verification of their signatures."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypedDict, Union

from .types import Coverage, Match, Notice, Removal

if TYPE_CHECKING:
    from typing_extensions import NotRequired

TOLERANCE_SECONDS = 300


class WebhookMatch(Match):
    truncated: NotRequired[Literal[True]]
    """The match was too large for a message, so it has no `payload["raw"]`."""


class MatchesMessage(TypedDict):
    type: Literal["matches"]
    webhook_id: str
    matches: list[WebhookMatch]
    removed: NotRequired[list[Removal]]
    """Removed matches: delete your copies. Absent if there are none."""


class NoticeMessage(TypedDict):
    """Only with `events=["notices"]`: sent when the notice is raised, and again when it is resolved."""

    type: Literal["notice"]
    webhook_id: str
    notice: Notice


class DigestCount(TypedDict):
    rule_id: str
    rule_name: str
    platform: Literal["x", "firehose", "bluesky"]
    matches: int


class DigestMatch(TypedDict):
    id: str
    rule_id: str
    platform: Literal["x", "firehose", "bluesky"]
    created_at: str
    url: str | None
    title: str | None
    text: str | None
    author: str | None
    why: list[str]
    """The words that matched."""


class DigestCoverage(Coverage):
    without_gap: bool
    """The whole period was covered, or fetched later."""


# A class cannot have a field with the name of a keyword.
DigestMessage = TypedDict(
    "DigestMessage",
    {
        "type": "Literal['digest']",
        "webhook_id": "str",
        "digest_id": "str",
        "name": "str",
        # The number of the message in the digest, from 1.
        "number": "int",
        "from": "str",
        "to": "str",
        "time_zone": "str",
        "total": "int",
        # There are more matches than `total`.
        "total_is_minimum": "bool",
        "counts": "list[DigestCount]",
        # Newest first; at most `max_matches` of the digest.
        "matches": "list[DigestMatch]",
        "coverage": "DigestCoverage",
    },
)
"""A digest message. Its titles, texts, authors and URLs are untrusted content."""


class TestMessage(TypedDict):
    type: Literal["test"]
    webhook_id: str


WebhookMessage = Union[MatchesMessage, NoticeMessage, DigestMessage, TestMessage]


class VerifiedWebhook(NamedTuple):
    id: str
    """A repeated message has the same id (`webhook-id`). To recognise repetitions, store the ids."""

    message: WebhookMessage


class WebhookVerificationError(Exception):
    """The message is not from Earshot, or is not recent."""


class Headers(Protocol):
    """The headers of a request, as web frameworks have them."""

    def items(self) -> Iterable[tuple[str, str]]: ...


def verify_webhook(
    *, secret: str, headers: Headers, body: bytes, now: float | None = None
) -> VerifiedWebhook:
    """Return the message if it has a valid signature and is at most 5 minutes old.

    Args:
        secret: The secret from `create_webhook` or `rotate_webhook_secret`: `whsec_…`.
        headers: The headers of the request.
        body: The raw bytes of the body.
        now: Seconds since 1970; by default the current time.

    Raises:
        WebhookVerificationError: The message is refused, or the body is not the raw bytes.
        ValueError: The secret is not valid.
    """
    if not isinstance(body, (bytes, bytearray)):
        raise WebhookVerificationError(
            f"The body must be the raw bytes of the request, not a {type(body).__name__}: "
            "read it before a JSON parser does."
        )
    key = _key_of(secret)
    given = {name.lower(): value for name, value in headers.items()}
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        if not given.get(name):
            raise WebhookVerificationError(f"The header {name} is missing.")
    id, timestamp = given["webhook-id"], given["webhook-timestamp"]
    if not re.fullmatch("[0-9]{1,12}", timestamp):
        raise WebhookVerificationError("The timestamp is not a number.")
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE_SECONDS:
        raise WebhookVerificationError("The message is older or newer than 5 minutes.")
    digest = hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    for signature in given["webhook-signature"].split(" "):
        if hmac.compare_digest(signature.encode(), expected):
            return VerifiedWebhook(id, json.loads(body))
    raise WebhookVerificationError("No signature fits the secret.")


def _key_of(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret[len("whsec_") :] if secret.startswith("whsec_") else secret, validate=True)
    except binascii.Error:
        key = b""
    if not key:
        raise ValueError("The secret is not valid. It must be whsec_ and base64.")
    return key
