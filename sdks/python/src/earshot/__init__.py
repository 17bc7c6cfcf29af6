"""The client of Earshot: typed calls, matches by iteration, webhook verification."""

from . import types
from .client import AsyncEarshot, AsyncFollowed, Earshot, Followed
from .errors import EarshotError
from .for_models import fence, words
from .request import OMITTED
from .webhooks import VerifiedWebhook, WebhookMessage, WebhookVerificationError, verify_webhook

__all__ = [
    "OMITTED",
    "AsyncEarshot",
    "AsyncFollowed",
    "Earshot",
    "EarshotError",
    "Followed",
    "VerifiedWebhook",
    "WebhookMessage",
    "WebhookVerificationError",
    "fence",
    "types",
    "verify_webhook",
    "words",
]
