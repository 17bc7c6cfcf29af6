# Generated from the contract by tools/python-sdk.ts. Regenerate it with: pnpm docs:write

"""The requests and answers of the operations. Answers may gain fields, and fields new values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

ErrorCode = Literal[
    "invalid_argument",
    "failed_precondition",
    "out_of_range",
    "unauthenticated",
    "permission_denied",
    "not_found",
    "already_exists",
    "aborted",
    "resource_exhausted",
    "internal",
    "unimplemented",
    "unavailable",
    "deadline_exceeded",
]
"""The codes of errors."""


class Budget(TypedDict):
    period: Literal["day", "month", "lifetime"]
    """Spending is counted from the start of this period."""

    usd: NotRequired[float]
    """US dollars, counted at the highest possible price."""

    matches: NotRequired[int]
    """In place of `usd`: matches."""

    on_reached: Literal["pause", "notify"]
    """Whether rules are paused, or only a notice is sent."""


class EffectiveBudget(TypedDict):
    """The budget that limits the rule, and its spending."""

    period: Literal["day", "month", "lifetime"]
    """Spending is counted from the start of this period."""

    usd: NotRequired[float]
    """US dollars, counted at the highest possible price."""

    matches: NotRequired[int]
    """In place of `usd`: matches."""

    on_reached: Literal["pause", "notify"]
    """Whether rules are paused, or only a notice is sent."""

    spent: float
    """Spent in this period, in the unit of the budget."""

    remaining: float
    """Left in this period, in the unit of the budget."""

    reserved: float
    """What may still arrive until the platforms apply a pause, at the rate of the last minute,
    in the unit of the budget. The rule is paused when `spent` plus `reserved` reaches the
    budget.
    """

    forecast: float | None
    """Spent at the end of the period at the rate since its start, or since the rule began to
    listen in it, in the unit of the budget. Null in the first hour of either, in the first 2%
    of the period, while the rule is paused, and for `lifetime`.
    """

    resets_at: str | None
    """When the next period begins; null for `lifetime`."""


class RulePause(TypedDict):
    reason: Literal["request", "expired", "budget", "default_budget", "suspension"]
    """`request`: PauseRule. `expired`: `expires_at` has passed. `budget`: a budget of the rule,
    its key or the account is reached. `default_budget`: the default budget of the operator
    paused the rule in a second period, so it stays paused. Set a `budget`, or resume the rule
    in the next period. `suspension`: the operator suspended the account.
    """

    resumes_at: str | None
    """When the rule resumes automatically; null if it does not."""


class ExampleAuthor(TypedDict):
    id: NotRequired[str | None]
    """Id on the platform."""

    name: NotRequired[str | None]
    """Name for people."""

    handle: NotRequired[str | None]
    """Name on the platform, without @."""


class ExamplePayload(TypedDict):
    """An item as in a match, with only the fields that matter for the rule. Missing or null
    fields are unknown, and a clause that asks for them is undecided.
    """

    url: NotRequired[str | None]
    """Address of the item."""

    title: NotRequired[str | None]
    """Title of the page."""

    text: NotRequired[str | None]
    """The whole text: of the post, or what was added to the page."""

    author: NotRequired[ExampleAuthor | None]
    """Who wrote it."""

    published_at: NotRequired[str | None]
    """When it was published."""

    language: NotRequired[str | None]
    """Language code, as the platform delivers it."""

    raw: NotRequired[dict[str, Any] | None]
    """The item as the platform delivers it. If present, the other fields are ignored."""


class RuleExample(TypedDict):
    platform: Literal["x", "firehose", "bluesky"]
    """Where the item is from."""

    payload: ExamplePayload
    """An item as in a match, with only the fields that matter for the rule. Missing or null
    fields are unknown, and a clause that asks for them is undecided.
    """


class RuleExamples(TypedDict):
    """Example items for the rule. They are checked before anything is registered, and again when
    the value changes; one that fails is a violation.
    """

    must_match: list[RuleExample]
    """Items that the rule must match."""

    must_not_match: list[RuleExample]
    """Items that the rule must not match."""


class RuleRelevance(TypedDict):
    """Whether a judge, a model that the operator set up, checks the matches of the rule."""

    judge: bool
    """Whether the judge says of each new match if it is relevant to the intent."""

    criteria: list[str]
    """What the judge checks besides the intent."""

    accept_unproven: bool
    """Leave out what the judge rejects although the rule has fewer than 60 matches labelled
    `relevant`: nothing then shows how much of it is wrongly rejected.
    """

    usd_per_day: float | None
    """The most that the judge may cost for this rule per UTC day; null: only the limit of the
    operator.
    """


class ManagedBy(TypedDict):
    """For rules that are kept as code. `earshot apply` changes and deletes only rules of the set
    in its file. Only one rule at a time can have a pair.
    """

    set: str
    """The set that the rule belongs to: the `set` of a rules file."""

    key: str
    """What the rule is called in its set."""


class Listening(TypedDict):
    """Whether Earshot receives the items that match the rule right now."""

    state: Literal["live", "starting", "down", "paused"]
    """`live`: matches arrive. `starting`: the platform has the rule but does not apply it yet.
    `down`: nothing arrives; see `reason`. `paused`: the rule is paused.
    """

    reason: str | None
    """Why the state is `down`: `refused`, `not_registered`, or the state of the source, as in
    ListSources. Otherwise null.
    """

    since: str | None
    """When this state began. While `starting`, the time at which the platform is expected to
    apply the rule. Null: not recorded.
    """


class RulePlatform(TypedDict):
    """On `x`; absent unless the rule, or the request, names it."""

    platform_rule_id: str
    """The rule's id on the platform, as this account sees it: stable while the rule has this
    query, and in the platform's form. The operator knows the id that the platform itself
    uses.
    """

    translated_value: str
    """The query registered on the platform."""

    status: Literal["active", "pending", "failed", "paused"]
    """`active`: registered on the platform. `pending`: will be registered shortly. `failed`: the
    platform refuses it. `paused`: the rule is paused.
    """

    value: str
    """The query as the caller sent it."""

    options: NotRequired[dict[str, bool]]
    """The options that differ from the platform's default; absent where none does."""

    listening: Listening
    """Whether Earshot receives the items that match the rule right now."""

    rule_type: Literal["premium", "regular"]
    """Premium rules (`x`) are limited by the plan; regular rules (`firehose`, `bluesky`) are
    not.
    """

    last_match_at: str | None
    """When its last match was stored; null before the first."""

    match_count: int
    """How many matches it has had on the platform."""


class RulePlatforms(TypedDict):
    """One entry per platform."""

    x: NotRequired[RulePlatform]
    """On `x`; absent unless the rule, or the request, names it."""

    firehose: NotRequired[RulePlatform]
    """On `firehose`; absent unless the rule, or the request, names it."""

    bluesky: NotRequired[RulePlatform]
    """On `bluesky`; absent unless the rule, or the request, names it."""


class Rule(TypedDict):
    """A rule of the account."""

    id: str
    """Id of the rule."""

    name: str
    """Name of the rule, for people."""

    intent: str
    """What the rule is for; context for agents."""

    created_at: str
    """When it was created."""

    updated_at: str
    """When it last changed."""

    version: int
    """Grows with each change of the rule."""

    state: Literal["active", "paused", "failed"]
    """`failed`: a platform refuses it; see `platforms`."""

    expires_at: str | None
    """When the rule is paused automatically; a paused rule with a time in the past has expired."""

    budget: Budget | None
    """The rule's own budget. Null: the rule has none; see `effective_budget`."""

    effective_budget: EffectiveBudget | None
    """The budget that limits the rule: its own, or the operator's default if it has none. Null:
    no budget applies to the rule itself.
    """

    pause: RulePause | None
    """Why the rule is paused; null if it is not."""

    examples: RuleExamples | None
    """Example items for the rule."""

    relevance: RuleRelevance | None
    """Null: the judge does not check its matches."""

    alerts: Literal["low", "medium", "high"] | None
    """How sensitively Earshot reports spikes and drops of the matches as notices: `low` only
    large ones, `high` also small ones that may be chance. Null: not at all.
    """

    managed_by: ManagedBy | None
    """Null for a rule that is not kept as code."""

    platforms: RulePlatforms
    """One entry per platform."""


class Author(TypedDict):
    id: str
    """Id on the platform."""

    name: str | None
    """Name for people."""

    handle: str | None
    """Name on the platform, without @."""


class MatchPayload(TypedDict):
    """The matching item, in the same form for every platform."""

    url: str | None
    """Address of the post or page."""

    title: str | None
    """Title of the page; null for a post."""

    text: str | None
    """The whole text of the post, or what was added to the page."""

    author: Author | None
    """Null when the platform names none."""

    published_at: str | None
    """When it was published, as the platform says."""

    language: str | None
    """Language code, as the platform delivers it."""

    edit_of: NotRequired[str]
    """For an edited post: the `platform_post_id` of its first version. Each version is a
    separate item.
    """

    raw: dict[str, Any]
    """The item as the platform delivered it."""


class Span(TypedDict):
    """Part of the value, as offsets in UTF-16 code units; `end` is exclusive."""

    start: int
    """Where it begins."""

    end: int
    """Where it ends: behind the last code unit."""


class Evidence(TypedDict):
    rule_span: Span
    """Part of the value, as offsets in UTF-16 code units; `end` is exclusive."""

    field: str
    """The operator or field of the rule, such as `keyword`."""

    path: str
    """Where in `payload.raw`, such as `data.text`."""

    text_span: Span | None
    """Null when the whole value is meant."""

    text: str
    """What is there."""


class Undecided(TypedDict):
    rule_span: Span
    """Part of the value, as offsets in UTF-16 code units; `end` is exclusive."""

    field: str
    """The operator or field of the rule."""

    why: str
    """Why the item does not decide it."""


class Why(TypedDict):
    """Why the item matched."""

    verdict: Literal["match", "unknown"]
    """Our own reading of the rule. The platform's verdict counts; `unknown`: the item alone does
    not decide it.
    """

    confidence: Literal["exact", "approximate"]
    """`approximate`: part of it is undecided, or read in a way that may differ from the
    platform.
    """

    evidence: list[Evidence]
    """The smallest set of places that is enough, with what is undecided taken as satisfied.
    `rule_span` refers to `translated_value`.
    """

    undecided: list[Undecided]
    """Clauses of the rule that the item does not decide, each with the reason."""


class MatchRelevance(TypedDict):
    """Whether the item is relevant; absent while it is neither labelled nor judged."""

    verdict: Literal["relevant", "not_relevant", "unsure", "unjudged"]
    """Whether the item is relevant to the intent of the rule. `unjudged`: the judge gave no
    verdict; no filter hides it.
    """

    by: Literal["label", "judge"]
    """A label goes before the verdict of the judge."""

    reason: str | None
    """Note of the label, or what the judge says: untrusted, since it may repeat the item."""

    intent_version: int | None
    """Grows when the intent or the criteria change; null for a label."""


class MatchStoryPlatforms(TypedDict):
    """How many of them are from each platform."""

    x: NotRequired[int]
    """On `x`."""

    firehose: NotRequired[int]
    """On `firehose`."""

    bluesky: NotRequired[int]
    """On `bluesky`."""


class MatchStoryMember(TypedDict):
    match_id: str
    """Id of the match."""

    rule_id: str
    """Id of the rule."""

    platform: Literal["x", "firehose", "bluesky"]

    because: Literal[
        "first",
        "same_page",
        "repost",
        "quote",
        "reply",
        "conversation",
        "same_url",
        "copy",
        "merged",
    ]
    """Why it is in the story. `first`: the story began with it. `same_page`: the page or post
    that others link or refer to, another version of it, or another rule. `repost`, `quote`,
    `reply`, `conversation`: of an item of the story, or of the same post as one. `same_url`:
    it links to the same page. `copy`: its text is equal. `merged`: it began a story that a
    later item joined to this one.
    """

    created_at: str
    """When the match was stored."""


class MatchStory(TypedDict):
    """The story of the match: only with `group: "story"`, and with `story_id`."""

    id: str
    """Id of the story. If two stories merge, both ids lead to the same story."""

    matches: int
    """Its matches now, within the filter; at most 10,000 are counted."""

    platforms: MatchStoryPlatforms
    """How many of them are from each platform."""

    first_at: str
    """When the first of them was stored."""

    last_at: str
    """When the last of them was stored."""

    because: Literal[
        "first",
        "same_page",
        "repost",
        "quote",
        "reply",
        "conversation",
        "same_url",
        "copy",
        "merged",
    ]
    """Why it is in the story. `first`: the story began with it. `same_page`: the page or post
    that others link or refer to, another version of it, or another rule. `repost`, `quote`,
    `reply`, `conversation`: of an item of the story, or of the same post as one. `same_url`:
    it links to the same page. `copy`: its text is equal. `merged`: it began a story that a
    later item joined to this one.
    """

    members: list[MatchStoryMember]
    """The newest of them, at most 10."""


class Match(TypedDict):
    """One item that matched one rule."""

    id: str
    """Id of the match."""

    rule_id: str
    """Id of the rule."""

    rule_version: int
    """Version of the rule that matched."""

    created_at: str
    """When the match was stored."""

    platform: Literal["x", "firehose", "bluesky"]
    """Where the item is from."""

    platform_post_id: str
    """Per platform: the post's id on `x`; the page's URL on `firehose`; the post's AT URI on
    `bluesky`.
    """

    via: Literal["stream", "search"]
    """`search`: it was missed by the stream and found when the gap was repaired."""

    payload: MatchPayload
    """The matching item, in the same form for every platform."""

    why: Why
    """Why the item matched."""

    relevance: NotRequired[MatchRelevance]
    """Whether the item is relevant; absent while it is neither labelled nor judged."""

    muted_by: NotRequired[str]
    """Id of the mute that hides the match; absent if none does."""

    story: NotRequired[MatchStory]
    """The story of the match: only with `group: "story"`, and with `story_id`."""


Gap = TypedDict(
    "Gap",
    {
        # The platform that Earshot did not receive from.
        "platform": "Literal['x', 'firehose', 'bluesky']",
        # When it began.
        "from": "str",
        # Null while the gap lasts.
        "to": "str | None",
        # Why Earshot received nothing.
        "reason": "str",
        # Whether what was missed has been fetched since.
        "repaired": "bool",
    },
)


class Coverage(TypedDict):
    """Whether the absence of matches means that nothing happened."""

    complete_through: str | None
    """Once you have read to the end of the list, you have everything up to this time, apart from
    the gaps. Null: nothing was watched yet.
    """

    gaps: list[Gap]
    """Periods in which Earshot received nothing."""


class SyntaxOperator(TypedDict):
    name: str
    """What it is called."""

    form: str
    """How it is written."""

    meaning: str
    """What it matches."""

    standalone: bool
    """Whether a rule may consist of it alone."""

    negatable: bool
    """Whether it may be negated."""

    examples: list[str]
    """Rules that use it."""

    tier: str
    """The access to the platform that it needs; `standard` is what everyone has."""


class SyntaxPitfall(TypedDict):
    wrong: str
    """What is often written."""

    right: str
    """What was meant."""

    why: str
    """What the first one really does."""


class SyntaxExample(TypedDict):
    intent: str
    """What is wanted."""

    value: str
    """The rule for it."""

    explanation: str
    """How the rule is read."""


class SyntaxGuide(TypedDict):
    """The rule language of one platform, generated from the parser's own tables."""

    rule_type: Literal["premium", "regular"]
    """Premium rules (`x`) are limited by the plan; regular rules (`firehose`, `bluesky`) are
    not.
    """

    summary: str
    """The language in a sentence."""

    grammar_version: str
    """Changes when the language does."""

    limits: dict[str, float]
    """Limits of a rule value, by name."""

    precedence: str
    """How a rule is parsed: the precedence of the operators."""

    operators: list[SyntaxOperator]
    """Everything that a rule may use."""

    pitfalls: list[SyntaxPitfall]
    """Mistakes that are easily made."""

    examples: list[SyntaxExample]
    """Whole rules, with what they are for."""

    markdown: str
    """The whole guide as one text, ready for an agent."""


class Edit(TypedDict):
    span: Span
    """Part of the value, as offsets in UTF-16 code units; `end` is exclusive."""

    text: str
    """What to put there."""


class Fix(TypedDict):
    title: str
    """What the fix does."""

    certainty: Literal["certain", "guess"]
    """`certain`: only one meaning is possible, so a program may apply it. `guess`: choose
    according to the intent.
    """

    edits: list[Edit]
    """Replace each span with its text; the spans never overlap."""


class Diagnostic(TypedDict):
    """A finding about one place of a query."""

    severity: Literal["error", "suspicious", "warning", "hint"]
    """`error`: refused. `suspicious`: refused unless the request sends `accept_suspicious`.
    `warning` and `hint`: only reported.
    """

    code: str
    """What kind of finding, for programs."""

    message: str
    """What is wrong and what to do."""

    span: Span
    """Part of the value, as offsets in UTF-16 code units; `end` is exclusive."""

    fixes: list[Fix]
    """Ways to fix it; empty if there are none."""


class Violation(TypedDict):
    """What is wrong with one field of the request."""

    field: str
    """Path of the field, such as `overrides.x`; empty for the request."""

    code: str
    """What kind of mistake, for programs."""

    message: str
    """What to do about it."""

    severity: NotRequired[Literal["error", "suspicious"]]
    """For a query: a `suspicious` finding is registered with `accept_suspicious`, an `error`
    never.
    """

    span: NotRequired[Span]
    """Part of the value, as offsets in UTF-16 code units; `end` is exclusive."""

    fixes: NotRequired[list[Fix]]
    """Possible corrections."""


class KeyClient(TypedDict):
    id: str
    """Its client id; for many programs a URL."""

    name: str
    """What it calls itself."""


class Key(TypedDict):
    """A key of the account, without the key itself."""

    id: str
    """Id of the key."""

    name: str | None
    """As chosen when it was created, for people."""

    display: str
    """Enough of the key to recognise it."""

    scopes: list[Literal[
        "rules:read",
        "rules:write",
        "matches:read",
        "matches:label",
        "readers:write",
        "keys:write",
        "audit:read",
        "webhooks:read",
        "webhooks:write",
    ]]
    """What the key may do."""

    created_at: str
    """When it was created."""

    expires_at: str | None
    """When it stops working; null: never."""

    budget: Budget | None
    """What all rules created with the key may spend together; null for no limit."""

    last_used_at: str | None
    """Exact to about a minute."""

    client: KeyClient | None
    """The program that was authorized by OAuth to use the key; null for a key that a person or
    program holds itself.
    """


class AuditEntry(TypedDict):
    """One change of a rule, a key or a webhook."""

    id: str
    """Id of the entry."""

    created_at: str
    """When it was changed."""

    actor: str
    """The id of the key, `operator` for the operator of the installation, or `earshot` for the
    service itself.
    """

    operation: str
    """The operation, such as `CreateRule`."""

    target_id: str
    """Id of the rule, key or webhook that was changed."""

    before: dict[str, Any] | None
    """The old value; null if it was created."""

    after: dict[str, Any] | None
    """The new value; null if it was deleted."""

    request_id: str | None
    """The `x-request-id` of the change; null without a request."""


class Webhook(TypedDict):
    """An endpoint that matches are pushed to."""

    id: str
    """Id of the webhook."""

    name: str
    """A name that no other webhook of the account has."""

    url: str
    """Where the matches are posted. Of a chat only the host is shown, since its URL is a
    credential.
    """

    format: Literal["standard", "cloudevents", "slack", "discord", "teams"]
    """`standard`: Standard Webhooks. `cloudevents`: a batch of CloudEvents 1.0, signed in the
    same way. `slack`, `discord`, `teams`: a message for people, to the URL of an incoming
    webhook of the chat.
    """

    window_seconds: int
    """Seconds. The endpoint gets at most one message with matches in this time, and full
    messages at once.
    """

    max_matches: int
    """The most matches in one message. Not for chats, which show some and count the rest."""

    rule_ids: list[str] | None
    """Only matches of these rules; null: of every rule. A deleted rule has no matches."""

    platform: Literal["x", "firehose", "bluesky"] | None
    """Only matches on this platform; null: on every platform."""

    relevance: Literal["all", "not_irrelevant", "relevant"]
    """Which matches are left out, as in ListMatches. A match waits for its verdict for 30 s at
    the most.
    """

    group: Literal["story"] | None
    """Posts each story once, with its first match, and again when it has grown to 10, 100, 1,000
    and 10,000 matches. Stories that began before the webhook are new to it. Null: it posts
    every match.
    """

    events: list[Literal["matches", "notices"]]
    """What is posted: `matches`, narrowed by `rule_ids` and `platform`; `notices`: all of the
    account, one in each message.
    """

    state: Literal["active", "paused", "disabled"]
    """`disabled`: Earshot has stopped trying; see `reason`. `UpdateWebhook` enables it again."""

    reason: Literal["gone", "failing"] | None
    """Why it is disabled; null if it is not. `gone`: the endpoint answered 410, or that of a
    chat 401, 403 or 404. `failing`: five days of nothing but failures.
    """

    failing_since: str | None
    """Null while deliveries succeed."""

    next_attempt_at: str | None
    """When a failed delivery is tried again; null when none waits."""

    created_at: str
    """When it was created."""

    updated_at: str
    """When it last changed."""


class Delivery(TypedDict):
    """One attempt to deliver a message, or several with the same answer, or one match that was
    parked.
    """

    id: str
    """Id of the attempt."""

    created_at: str
    """When the attempt was made, the first of `times`."""

    message_id: str | None
    """The `webhook-id` header: the same on every attempt. Null for a parked match."""

    attempt: int | None
    """Null for a parked match."""

    match_count: int
    """Matches in it, and removals of matches; 0 for a notice."""

    first_match_id: str | None
    """Null for a notice."""

    last_match_id: str | None
    """Null for a notice."""

    times: int
    """How many attempts in a row had this answer. Repeated failures are counted here, and get
    another entry about once an hour. Messages that were accepted at the first attempt are
    counted too, with an entry a minute: the other fields are then those of the last one, and
    `match_count` and `first_match_id` of all of them.
    """

    last_at: str
    """When the last of them was made."""

    notice_id: NotRequired[str]
    """Only for a notice."""

    outcome: Literal["delivered", "failed", "refused", "gone", "not_sent", "parked"]
    """`refused`: a 4xx answer. `not_sent`: our own network failed, which is not held against the
    endpoint. `parked`: a match that the endpoint refuses while it takes others; it was left
    out.
    """

    status: int | None
    """HTTP status; null when there was no answer."""

    latency_ms: int | None
    """How long the answer took; null when there was none."""

    message: str | None
    """Why there was no answer."""

    response: str | None
    """The first 1 KiB of the answer."""


class Reader(TypedDict):
    """A named reader: the server stores its position."""

    name: str
    """As you chose it."""

    of: Literal["matches", "notices"]
    """What it reads."""

    rule_id: str | None
    """Only matches of this rule; null: of every rule."""

    platform: Literal["x", "firehose", "bluesky"] | None
    """Only matches on this platform; null: on every platform."""

    relevance: Literal["all", "not_irrelevant", "relevant"]
    """Which matches it leaves out, as in ListMatches."""

    group: Literal["story"] | None
    """Null: it reads every match of a story."""

    created_at: str
    """When it was first used."""

    acknowledged_at: str | None
    """When `AckMatches` last moved it."""


class Overrides(TypedDict):
    """One query for each listed platform."""

    x: NotRequired[str]
    """The rule in the platform's own syntax."""

    firehose: NotRequired[str]
    """The rule in the platform's own syntax."""

    bluesky: NotRequired[str]
    """The rule in the platform's own syntax."""


class FirehoseOptions(TypedDict):
    """Options of Firehose."""

    quality: NotRequired[bool]
    """Default true: Firehose leaves out pages that it considers low quality, including URLs with
    a query, lists of articles, and pages older than seven days.
    """

    nsfw: NotRequired[bool]
    """Default false: Firehose leaves out adult pages."""


class Options(TypedDict):
    """Platform options besides the query. Options that you leave out have the platform's
    default.
    """

    firehose: NotRequired[FirehoseOptions]
    """Options of Firehose."""


class NewBudget(TypedDict):
    """What may be spent in a period. It may stop the rule early, never late by more than what
    the platform delivers until it applies a pause (up to 70 s on X, 15 s on Firehose). The
    rule resumes when the next period begins, at midnight UTC.
    """

    period: Literal["day", "month", "lifetime"]
    """The period in which spending is counted: from the start of the UTC day or month, or of the
    rule.
    """

    usd: NotRequired[float]
    """US dollars, counted at the highest possible price, as `usd.max` in GetUsage, so that the
    budget holds in any case.
    """

    matches: NotRequired[int]
    """In place of `usd`: matches."""

    on_reached: NotRequired[Literal["pause", "notify"]]
    """`pause`: the rule is paused, and resumes automatically when the next period begins; after
    an early pause also once after two minutes. `notify`: only a notice.
    """


class Trial(TypedDict):
    """Runs the rule for a short time to measure how much it matches. It sets `expires_at` and
    `budget`. PreviewRule then uses the result as an estimate. To continue, change both with
    UpdateRule and resume the rule.
    """

    minutes: int
    """The rule is paused after this many minutes."""

    max_matches: int
    """The rule is also paused after this many matches: a `budget` of matches for its lifetime."""


class NewRuleExamples(TypedDict):
    """Example items for the rule. They are checked before anything is registered, and again when
    the value changes; one that fails is a violation.
    """

    must_match: NotRequired[list[RuleExample]]
    """Items that the rule must match."""

    must_not_match: NotRequired[list[RuleExample]]
    """Items that the rule must not match."""


class CreateRuleRequestRelevance(TypedDict):
    """Whether a judge, a model that the operator set up, checks the matches of the rule."""

    judge: bool
    """Whether the judge says of each new match if it is relevant to the intent."""

    criteria: NotRequired[list[str]]
    """What the judge checks besides the intent."""

    accept_unproven: NotRequired[bool]
    """Leave out what the judge rejects although the rule has fewer than 60 matches labelled
    `relevant`: nothing then shows how much of it is wrongly rejected.
    """

    usd_per_day: NotRequired[float | None]
    """The most that the judge may cost for this rule per UTC day; null: only the limit of the
    operator.
    """


class DigestSchedule(TypedDict):
    """When it is sent: by `cron`, or every `window_seconds`."""

    cron: NotRequired[str]
    """When it is sent: minute, hour, day of the month, month and day of the week."""

    time_zone: NotRequired[str]
    """Of `cron`, such as `Europe/Berlin`; `UTC` by default."""

    window_seconds: NotRequired[int]
    """Instead of `cron`: every so many seconds."""


class DigestRecipients(TypedDict):
    """Where it is sent: to a webhook, or by e-mail."""

    webhook_id: NotRequired[str]
    """Id of the webhook."""

    email: NotRequired[list[str]]
    """Addresses that the operator allows."""


class ErrorReader(TypedDict):
    """The filter of the named reader."""

    of: Literal["matches", "notices"]
    """What it reads."""

    rule_id: str | None
    """Only matches of this rule; null: of every rule."""

    platform: Literal["x", "firehose", "bluesky"] | None
    """Only matches on this platform; null: on every platform."""

    relevance: Literal["all", "not_irrelevant", "relevant"]
    """Which matches it leaves out, as in ListMatches."""

    group: Literal["story"] | None
    """Null: it reads every match of a story."""


class EstimatedMatches(TypedDict):
    average: float
    """On an average day."""

    busiest: float | None
    """On the busiest of these days; null if fewer than two whole days are known, or if the
    numbers are a bound.
    """

    days: int
    """How many whole days are known; with 0 the average is scaled up from a part of a day."""


class BusiestHour(TypedDict):
    starts_at: str
    """When the hour begins."""

    matches: int
    """How many there were in it."""


class UsdRange(TypedDict):
    min: float
    """For the items alone."""

    max: float
    """Including everything that may be delivered with it and charged."""


class Estimate(TypedDict):
    """On `x`; absent unless the rule, or the request, names it."""

    matches_per_day: EstimatedMatches | None
    """On an average day, and on the busiest one. Null: unknown."""

    busiest_hour: BusiestHour | None
    """The busiest hour of these days; null if only a part of them was evaluated, or if the
    numbers are a bound.
    """

    usd_per_day: UsdRange | None
    """What an average day costs: `min` for the items alone, `max` with everything that may come
    along with them and be charged.
    """

    usd_per_month: UsdRange | None
    """What 30 average days cost."""

    basis: Literal["counts", "history", "trial", "bound", "unknown"]
    """`history`: matches of an account's rule with this query. `counts`: the platform's own
    counts. `bound`: stored items only, or what already matched in the last 24 hours if the
    rest shows less. `trial`: matches of a trial with this query.
    """

    bound: Literal["at_least", "at_most"] | None
    """Whether the numbers are an upper or a lower bound; null if they are not a bound."""

    basis_note: str
    """What the numbers are based on and leave out, for people."""

    fee_usd: float
    """What this estimate itself cost."""


class Estimates(TypedDict):
    """What the rule would match and cost on each platform."""

    x: NotRequired[Estimate]
    """On `x`; absent unless the rule, or the request, names it."""

    firehose: NotRequired[Estimate]
    """On `firehose`; absent unless the rule, or the request, names it."""

    bluesky: NotRequired[Estimate]
    """On `bluesky`; absent unless the rule, or the request, names it."""


class ErrorDetails(TypedDict):
    """For programs; the fields depend on the code."""

    request_id: NotRequired[str]
    """The `x-request-id` of the answer."""

    violations: NotRequired[list[Violation]]
    """With `invalid_argument`: every mistake in the request."""

    reason: NotRequired[Literal[
        "version_changed",
        "not_paused",
        "expired",
        "equivalent_rule",
        "budget_reached",
        "budget_exceeded",
        "no_credit",
        "spend_cap",
        "usage_cap",
        "credentials",
        "not_configured",
        "in_use",
        "not_signed",
        "rule_deleted",
        "too_many_matches",
        "wrong_account",
        "insecure_connection",
        "already_decided",
        "retention",
        "restored",
        "conflict",
        "in_progress",
        "replaced",
        "timeout",
        "rate_limit",
        "concurrency",
        "plan_limit",
        "share",
        "capacity",
        "shutting_down",
        "not_ready",
        "database",
        "overloaded",
        "platform",
        "issuer",
    ]]
    """The cause, where a code has several: always with `failed_precondition`, `out_of_range`,
    `aborted`, `resource_exhausted` and `unavailable`. The page of the code lists its reasons.
    """

    what_to_do: NotRequired[str]
    """What the operator of the service must do."""

    oldest_cursor: NotRequired[str]
    """Where to continue after `out_of_range`."""

    required_scope: NotRequired[Literal[
        "rules:read",
        "rules:write",
        "matches:read",
        "matches:label",
        "readers:write",
        "keys:write",
        "audit:read",
        "webhooks:read",
        "webhooks:write",
    ]]
    """The scope that the key lacks."""

    rule_id: NotRequired[str]
    """The rule of the account that has the same queries."""

    plan: NotRequired[str]
    """The plan of the account."""

    platform: NotRequired[Literal["x", "firehose", "bluesky"]]
    """The platform that the error is about."""

    limit: NotRequired[float]
    """How much is allowed."""

    used: NotRequired[float]
    """How much of it is in use."""

    contact: NotRequired[str]
    """The contact for a higher limit."""

    reader: NotRequired[ErrorReader]
    """The filter of the named reader."""

    budget: NotRequired[Budget]
    """The budget that does not allow the change."""

    estimate: NotRequired[Estimates]
    """What the rule would match and cost on each platform."""


class CreatedRulePlatform(TypedDict):
    """On `x`; absent unless the rule, or the request, names it."""

    platform_rule_id: str
    """The rule's id on the platform, as this account sees it: stable while the rule has this
    query, and in the platform's form. The operator knows the id that the platform itself
    uses.
    """

    translated_value: str
    """The query registered on the platform."""

    status: Literal["active", "pending", "failed", "paused"]
    """`active`: registered on the platform. `pending`: will be registered shortly. `failed`: the
    platform refuses it. `paused`: the rule is paused.
    """

    value: str
    """The query as the caller sent it."""

    options: NotRequired[dict[str, bool]]
    """The options that differ from the platform's default; absent where none does."""

    listening: Listening
    """Whether Earshot receives the items that match the rule right now."""

    rule_type: Literal["premium", "regular"]
    """Premium rules (`x`) are limited by the plan; regular rules (`firehose`, `bluesky`) are
    not.
    """

    last_match_at: str | None
    """When its last match was stored; null before the first."""

    match_count: int
    """How many matches it has had on the platform."""

    warnings: list[Diagnostic]
    """Findings about the query that did not prevent its registration."""


class CreatedRulePlatforms(TypedDict):
    """One entry per platform."""

    x: NotRequired[CreatedRulePlatform]
    """On `x`; absent unless the rule, or the request, names it."""

    firehose: NotRequired[CreatedRulePlatform]
    """On `firehose`; absent unless the rule, or the request, names it."""

    bluesky: NotRequired[CreatedRulePlatform]
    """On `bluesky`; absent unless the rule, or the request, names it."""


class CreatedRule(TypedDict):
    id: str
    """Id of the rule."""

    name: str
    """Name of the rule, for people."""

    intent: str
    """What the rule is for; context for agents."""

    created_at: str
    """When it was created."""

    updated_at: str
    """When it last changed."""

    version: int
    """Grows with each change of the rule."""

    state: Literal["active", "paused", "failed"]
    """`failed`: a platform refuses it; see `platforms`."""

    expires_at: str | None
    """When the rule is paused automatically; a paused rule with a time in the past has expired."""

    budget: Budget | None
    """The rule's own budget. Null: the rule has none; see `effective_budget`."""

    effective_budget: EffectiveBudget | None
    """The budget that limits the rule: its own, or the operator's default if it has none. Null:
    no budget applies to the rule itself.
    """

    pause: RulePause | None
    """Why the rule is paused; null if it is not."""

    examples: RuleExamples | None
    """Example items for the rule."""

    relevance: RuleRelevance | None
    """Null: the judge does not check its matches."""

    alerts: Literal["low", "medium", "high"] | None
    """How sensitively Earshot reports spikes and drops of the matches as notices: `low` only
    large ones, `high` also small ones that may be chance. Null: not at all.
    """

    managed_by: ManagedBy | None
    """Null for a rule that is not kept as code."""

    platforms: CreatedRulePlatforms
    """One entry per platform."""

    rule_id: str
    """Id of the rule."""

    equivalent_rule_id: NotRequired[str]
    """A rule of the account that has the same queries on the same platforms, if there is one."""


class ListRulesAnswer(TypedDict):
    rules: list[Rule]
    """Newest first."""

    next_cursor: str | None
    """Continues the list; null when it is complete."""


class DeleteRuleAnswer(TypedDict):
    rule_id: str
    """Id of the rule."""

    deleted_at: str
    """When it was deleted."""


class PreviewMatch(TypedDict):
    id: str
    """Id of the match."""

    rule_id: str
    """Id of the rule."""

    created_at: str
    """When the match was stored."""

    platform: Literal["x", "firehose", "bluesky"]
    """Where the item is from."""

    platform_post_id: str
    """Per platform: the post's id on `x`; the page's URL on `firehose`; the post's AT URI on
    `bluesky`.
    """

    payload: MatchPayload
    """The matching item, in the same form for every platform."""

    why: Why
    """Why the item matched."""


class PreviewSample(TypedDict):
    """How the draft evaluates on the stored items of the account."""

    evaluated: int
    """Stored items that the value was evaluated on."""

    stored: int
    """Items of the account from these days; when `is_sampled`, an estimate."""

    is_sampled: bool
    """Whether only a random sample of them was evaluated."""

    matched: int
    """Evaluated items that match."""

    undecided: int
    """Evaluated items that lack what is needed to decide whether the value matches."""

    matches: list[PreviewMatch]
    """Up to ten of them, newest first, `id` and `rule_id` being those of the stored match;
    undecided ones only where there are no others. `why` refers to `translated_value`. Empty
    when the key lacks the scope `matches:read`.
    """


class PreviewDifference(TypedDict):
    """Compared with the value that the rule has now, over the same items."""

    added: int
    """Items that only the draft matches."""

    removed: int
    """Items that only the current value matches."""

    undecided: int
    """Items for which one of the two values cannot be decided."""

    is_estimate: bool
    """The numbers are scaled from the evaluated items to all stored items."""


class PlatformPreview(TypedDict):
    """On `x`; absent unless the rule, or the request, names it."""

    translated_value: str
    """The canonical value that was evaluated."""

    warnings: list[Diagnostic]
    """Findings about the query. CreateRule refuses a `suspicious` one."""

    estimate: Estimate
    """How much the rule would match and cost."""

    sample: PreviewSample
    """How the draft evaluates on the stored items of the account."""

    against: NotRequired[PreviewDifference]
    """Compared with the value that the rule has now, over the same items."""


class PlatformPreviews(TypedDict):
    """One entry per platform."""

    x: NotRequired[PlatformPreview]
    """On `x`; absent unless the rule, or the request, names it."""

    firehose: NotRequired[PlatformPreview]
    """On `firehose`; absent unless the rule, or the request, names it."""

    bluesky: NotRequired[PlatformPreview]
    """On `bluesky`; absent unless the rule, or the request, names it."""


class PreviewRuleAnswer(TypedDict):
    platforms: PlatformPreviews
    """One entry per platform."""


class Removal(TypedDict):
    """A match whose item was removed. It has its own position in the order of matches."""

    type: Literal["removed"]
    """Distinguishes a removal from a match."""

    match_id: str
    """Delete what you keep of this match."""

    reason: Literal["forgotten", "deleted", "protected", "suspended", "withheld"]
    """`forgotten`: the operator of the service removed it. All others: what became of the item
    on its platform.
    """

    removed_at: str
    """When it was removed."""


class ListMatchesAnswerHidden(TypedDict):
    """How many matches a mute, `relevance` or `group` hides between those of this answer; absent
    when there are none. They are left out, unless a request with `hidden` lists them.
    """

    muted: int
    """Matches that a mute hides."""

    not_relevant: int
    """Matches that `relevance` left out."""

    in_story: NotRequired[int]
    """Matches of a story that another match stands for; only with `group`."""


class ListMatchesAnswer(TypedDict):
    matches: list[Match]
    """In the requested order."""

    removed: NotRequired[list[Removal]]
    """Matches that were removed, oldest first; absent when there are none. They may be older
    than the matches beside them, or unknown to you.
    """

    hidden: NotRequired[ListMatchesAnswerHidden]
    """How many matches a mute, `relevance` or `group` hides between those of this answer; absent
    when there are none. They are left out, unless a request with `hidden` lists them.
    """

    next_cursor: str | None
    """Continues in the same direction. Never null with `order: "oldest"`: keep it for the next
    request.
    """

    coverage: Coverage | None
    """Null unless the request names a rule or a platform."""


class CountSeries(TypedDict):
    rule_id: NotRequired[str]
    """Only with `by: "rule"`."""

    platform: NotRequired[Literal["x", "firehose", "bluesky"]]
    """Only with `by: "platform"`."""

    counts: list[int]
    """One for each step, in order of time."""


CountMatchesAnswer = TypedDict(
    "CountMatchesAnswer",
    {
        # Where the first step begins.
        "from": "str",
        # Where the last step ends.
        "to": "str",
        # Seconds.
        "step": "int",
        # Most matches first, at most 100.
        "series": "list[CountSeries]",
    },
)


class ExportMatchesAnswer(TypedDict):
    """One row of the file."""

    id: str
    """Id of the match."""

    created_at: str
    """When the match was stored."""

    rule_id: str
    """Id of the rule."""

    rule_version: int
    """Version of the rule that matched."""

    rule_name: str
    """Name of the rule now."""

    platform: Literal["x", "firehose", "bluesky"]
    """Where the item is from."""

    platform_post_id: str
    """Id of the item, as in a match."""

    via: Literal["stream", "search"]
    """How the item was found, as in a match."""

    url: str | None
    """Address of the post or page."""

    title: str | None
    """Title of the page; null for a post."""

    text: str | None
    """The whole text of the post, or what was added to the page."""

    author_id: str | None
    """Id of the author on the platform."""

    author_name: str | None
    """Name of the author, for people."""

    author_handle: str | None
    """Name of the author on the platform, without @."""

    published_at: str | None
    """When it was published, as the platform says."""

    language: str | None
    """Language code, as the platform delivers it."""

    verdict: str | None
    """Whether the item is relevant, as in a match; null without label and verdict."""

    verdict_by: str | None
    """`label` or `judge`."""

    muted_by: str | None
    """Id of the mute that hides the match."""

    raw: str
    """The item as the platform delivered it: JSON text."""


class LabelMatchesAnswerMuteSuggestion(TypedDict):
    """An author or site that you rejected at least three times. Send it to MuteMatches."""

    rule_id: str
    """Id of the rule."""

    author: str | None
    """Author by handle or by id on the platform."""

    domain: str | None
    """Site of the item: this domain and its subdomains."""

    rejected: int
    """Its matches of this rule with the label `not_relevant`."""

    query: Overrides
    """What to add to the query to exclude it there, which also saves its price; only platforms
    that can.
    """


class LabelMatchesAnswer(TypedDict):
    labelled: int
    """How many matches have the label now, or have none any more."""

    mute_suggestions: list[LabelMatchesAnswerMuteSuggestion]
    """Authors and sites that you rejected at least three times. Nothing is muted automatically."""


class ListLabelsAnswerLabel(TypedDict):
    """A judgement of one match by a person or agent."""

    match_id: str
    """Id of the match."""

    rule_id: str
    """Id of the rule."""

    platform: Literal["x", "firehose", "bluesky"]
    """Where the item is from."""

    label: Literal["relevant", "not_relevant"]
    """Whether the item is relevant to the intent of the rule."""

    note: str | None
    """Why, as the caller wrote it."""

    labelled_at: str
    """When it was last labelled."""

    labelled_by: str | None
    """Id of the key that labelled it."""


class ListLabelsAnswer(TypedDict):
    labels: list[ListLabelsAnswerLabel]
    """Newest match first."""

    next_cursor: str | None
    """Continues the list; null when it is complete."""


class MuteMatchesAnswer(TypedDict):
    id: str
    """Id of the mute."""

    rule_id: str | None
    """Only matches of this rule; null: of every rule."""

    author: str | None
    """Author by handle or by id on the platform."""

    domain: str | None
    """Site of the item: this domain and its subdomains."""

    phrase: str | None
    """Words in this order in the text or title, in upper or lower case."""

    created_at: str
    """When it was created."""

    created_by: str | None
    """Id of the key that created it."""

    mute_id: str
    """Id of the mute."""

    query: Overrides
    """What to add to the query to exclude it there, which also saves its price; only platforms
    that can.
    """


class ListMutesAnswerMute(TypedDict):
    """Matches that lists, streams and deliveries leave out. Exactly one of three is set."""

    id: str
    """Id of the mute."""

    rule_id: str | None
    """Only matches of this rule; null: of every rule."""

    author: str | None
    """Author by handle or by id on the platform."""

    domain: str | None
    """Site of the item: this domain and its subdomains."""

    phrase: str | None
    """Words in this order in the text or title, in upper or lower case."""

    created_at: str
    """When it was created."""

    created_by: str | None
    """Id of the key that created it."""


class ListMutesAnswer(TypedDict):
    mutes: list[ListMutesAnswerMute]
    """Newest first."""

    next_cursor: str | None
    """Continues the list; null when it is complete."""


class DeleteMuteAnswer(TypedDict):
    mute_id: str
    """Id of the mute."""

    deleted_at: str
    """When it was deleted."""


class GetRelevanceAnswerLabels(TypedDict):
    """Labelled matches of the rule."""

    relevant: int
    """Labelled `relevant`."""

    not_relevant: int
    """Labelled `not_relevant`."""


class GetRelevanceAnswerVerdicts(TypedDict):
    """Verdicts of this model on the present intent."""

    relevant: int
    """Judged `relevant`."""

    not_relevant: int
    """Judged `not_relevant`: left out by `not_irrelevant`."""

    unsure: int
    """Judged `unsure`."""

    unjudged: int
    """Without a verdict: the judge failed, or its budget was spent."""


class GetRelevanceAnswerPrecision(TypedDict):
    estimate: float
    """A share, from 0 to 1."""

    low: float
    """Lower end of its 95% interval."""

    high: float
    """Upper end of its 95% interval."""


class GetRelevanceAnswerAudit(TypedDict):
    """What the judge may reject wrongly."""

    labelled: int
    """Labelled matches of the random samples."""

    relevant: int
    """Those that the judge rejected although they are relevant."""

    match_ids: list[str]
    """A random sample of the rejected matches of this week, at most 10, without a label: label
    them.
    """


class GetRelevanceAnswer(TypedDict):
    rule_id: str
    """Id of the rule."""

    judge: str | None
    """The model that judges its matches; null if none does."""

    labels: GetRelevanceAnswerLabels
    """Labelled matches of the rule."""

    verdicts: GetRelevanceAnswerVerdicts
    """Verdicts of this model on the present intent."""

    is_proven: bool
    """Whether at least 60 matches are labelled `relevant`. Before that, readers leave out no
    verdict of the judge unless the rule has `accept_unproven`.
    """

    labels_missing: int
    """How many more must be labelled `relevant`."""

    precision: GetRelevanceAnswerPrecision | None
    """Of the labelled matches that are not rejected: the share that is relevant. Null without
    labels.
    """

    recall: GetRelevanceAnswerPrecision | None
    """Of the relevant matches: the share that is not rejected. It rests on the labels of a
    random sample of rejected matches; null without them.
    """

    audit: GetRelevanceAnswerAudit
    """What the judge may reject wrongly."""

    judge_usd: float
    """What the judge cost for this rule in the last 30 days, at most."""


class CoverageIntervalRepair(TypedDict):
    """What was done about a gap."""

    state: Literal["waiting", "repaired", "impossible"]
    """Whether what was missed has been fetched."""

    via: Literal["replay", "recovery", "search"] | None
    """`replay` and `recovery`: the platform delivered stored items again. `search`: Earshot
    searched the platform for the rule in that period.
    """

    reason: str | None
    """Why the repair waits, or why it is impossible."""

    fidelity: list[str]
    """What a search misses: `retweets_missing`, `deleted_posts_missing`,
    `quoted_text_not_searched`. What it finds in addition: `accents_ignored`. Empty: complete.
    """

    matches: int | None
    """Posts that a search found for the rule; null if they were not counted."""


CoverageInterval = TypedDict(
    "CoverageInterval",
    {
        # The platform of the interval.
        "platform": "Literal['x', 'firehose', 'bluesky']",
        # `live`: covered. `gap`: Earshot received nothing, although the rule was active.
        # `repaired`: a gap that was filled later. `starting`: the platform had the rule but did not
        # apply it yet; `to` may be in the future. `not_watched`: the rule was paused or not
        # registered yet; without `rule_id`, the account had no rule on the platform.
        "state": "Literal['live', 'gap', 'repaired', 'starting', 'not_watched']",
        # When it begins.
        "from": "str",
        # Null while a gap lasts.
        "to": "str | None",
        # Why there is a gap.
        "reason": "str | None",
        # What was done about a gap.
        "repair": "CoverageIntervalRepair | None",
    },
)


GetCoverageAnswer = TypedDict(
    "GetCoverageAnswer",
    {
        # Start of the time that the answer covers: later than requested if that is too much, or too
        # old.
        "from": "str",
        # End of the time that the answer covers.
        "to": "str",
        # Complete up to this time, apart from the gaps. Null: nothing was covered.
        "complete_through": "str | None",
        # Per platform, in chronological order.
        "intervals": "list[CoverageInterval]",
    },
)


class UsageResources(TypedDict):
    """What the matches consist of. An item that several of your rules matched is divided among
    them, so the numbers can be fractions.
    """

    posts: float
    """Posts that matched."""

    referenced_posts: float
    """Posts that were delivered with a post."""

    users: float
    """Authors and other users that were delivered with a post."""

    pages: float
    """Pages that matched."""


class Usage(TypedDict):
    day: NotRequired[str]
    """Only with `by: "day"`: the UTC day."""

    rule_id: NotRequired[str]
    """Only with `by: "rule"`."""

    rule_name: NotRequired[str | None]
    """Only with `by: "rule"`: its name; null if the rule was deleted."""

    platform: Literal["x", "firehose", "bluesky"]
    """Where the matches are from."""

    matches: int
    """Matches of your rules."""

    resources: UsageResources
    """What the matches consist of. An item that several of your rules matched is divided among
    them, so the numbers can be fractions.
    """

    usd: UsdRange
    """Cost in US dollars. `min`: posts and pages alone. `max`: with everything that was
    delivered with them, each time it was delivered. It is not documented which of the two a
    platform charges.
    """


class UsageTotal(TypedDict):
    """Of everything in the window."""

    matches: int
    """Matches of your rules."""

    resources: UsageResources
    """What the matches consist of. An item that several of your rules matched is divided among
    them, so the numbers can be fractions.
    """

    usd: UsdRange
    """Cost in US dollars. `min`: posts and pages alone. `max`: with everything that was
    delivered with them, each time it was delivered. It is not documented which of the two a
    platform charges.
    """


class GetUsageAnswerJudge(TypedDict):
    """What the judge cost in the window, besides; absent if it was not called."""

    calls: int
    """Calls of the judge."""

    usd: float
    """What they cost at most, in US dollars."""


class GetUsageAnswer(TypedDict):
    usage: list[Usage]
    """By day: in chronological order, without days that have no matches. By rule: the most
    expensive first, at most 1,000.
    """

    total: UsageTotal
    """Of everything in the window."""

    judge: NotRequired[GetUsageAnswerJudge]
    """What the judge cost in the window, besides; absent if it was not called."""

    prices_as_of: str
    """The day on which the prices were checked."""


class Source(TypedDict):
    platform: Literal["x", "firehose", "bluesky"]
    """The platform that it receives from."""

    name: str
    """The name that the operator gave it."""

    state: Literal[
        "starting",
        "live",
        "reconnecting",
        "failing",
        "rate_limited",
        "connection_in_use",
        "no_rules",
        "rules_invalid",
        "provisioning",
        "no_credit",
        "spend_cap",
        "usage_cap",
        "budget",
        "credentials",
        "bad_request",
        "degraded",
        "log_unavailable",
        "stopped",
    ]
    """Whether it receives. If the operator must act, `what_to_do` says how."""

    since: str
    """When this state began."""

    received_until: str | None
    """The time up to which it is known to have received. Null: never."""

    what_to_do: str
    """For the operator of the service."""

    message: NotRequired[str]
    """The platform's own error message."""


class ListSourcesAnswer(TypedDict):
    sources: list[Source]
    """All connections."""


class NoticeSubject(TypedDict):
    """The resource that the notice is about."""

    kind: Literal[
        "account",
        "key",
        "platform",
        "rule",
        "source",
        "webhook",
        "digest",
        "archive",
    ]
    """The kind of resource."""

    id: str
    """Its id."""

    name: str
    """Its name, for people."""


class Notice(TypedDict):
    """An event in the account that may need action."""

    id: str
    """Id of the notice."""

    type: Literal[
        "budget.threshold",
        "budget.reached",
        "budget.forecast",
        "rate.unusual",
        "alert.spike",
        "alert.drop",
        "alert.recovered",
        "coverage.gap",
        "coverage.repaired",
        "source.action_required",
        "source.disconnected",
        "rule.paused",
        "rule.expired",
        "rule.refused",
        "webhook.failing",
        "webhook.disabled",
        "digest.failing",
        "digest.given_up",
        "archive.failing",
        "judge.drift",
    ]
    """Ignore types that you do not know."""

    severity: Literal["info", "warning", "critical"]
    """`critical`: until you or the operator act, something is not received or not delivered."""

    subject: NoticeSubject
    """The resource that the notice is about."""

    data: dict[str, Any]
    """For programs: facts, depending on the type. Text of a platform in it is untrusted."""

    what_to_do: str
    """What to do, for people, in one or two sentences."""

    created_at: str
    """When it was raised."""

    resolved_at: str | None
    """Null while it is open. A notice that only reports what happened is resolved from the
    start.
    """


class ReadMatchesAnswer(TypedDict):
    matches: list[Match]
    """Not acknowledged yet, oldest first."""

    removed: NotRequired[list[Removal]]
    """Matches that were removed, oldest first; absent when there are none. They may be older
    than the matches beside them, or unknown to you.
    """

    hidden: NotRequired[ListMatchesAnswerHidden]
    """How many matches a mute, `relevance` or `group` hides between those of this answer; absent
    when there are none. They are left out, unless a request with `hidden` lists them.
    """

    notices: NotRequired[list[Notice]]
    """Only with `of: "notices"`; `matches` is empty then."""

    cursor: str | None
    """Acknowledges these matches and removals, with `AckMatches`. Null when there are none."""

    coverage: Coverage | None
    """Null unless the reader has a rule or a platform."""


class AckMatchesAnswer(TypedDict):
    reader: str
    """Name of the reader."""

    moved: bool
    """False if the reader was already there, or further."""


class ListReadersAnswer(TypedDict):
    readers: list[Reader]
    """By name."""

    next_cursor: str | None
    """Continues the list; null when it is complete."""


class DeleteReaderAnswer(TypedDict):
    reader: str
    """Name of the reader."""

    deleted_at: str
    """When it was deleted."""


class ListNoticesAnswer(TypedDict):
    notices: list[Notice]
    """In the requested order."""

    next_cursor: str | None
    """Continues in the same direction. Never null with `order: "oldest"`: keep it for the next
    request.
    """


class PlatformValidation(TypedDict):
    """On `x`; absent unless the rule, or the request, names it."""

    valid: bool
    """Whether CreateRule would register the value without `accept_suspicious`: it has no error
    and no suspicious finding, and none of its examples fails.
    """

    translated_value: str | None
    """The canonical value that would be registered if suspicious findings are accepted; null if
    it has an error.
    """

    diagnostics: list[Diagnostic]
    """Everything that was found."""


class PlatformValidations(TypedDict):
    """One entry per platform."""

    x: NotRequired[PlatformValidation]
    """On `x`; absent unless the rule, or the request, names it."""

    firehose: NotRequired[PlatformValidation]
    """On `firehose`; absent unless the rule, or the request, names it."""

    bluesky: NotRequired[PlatformValidation]
    """On `bluesky`; absent unless the rule, or the request, names it."""


class ValidateRuleAnswerIntentHint(TypedDict):
    code: Literal["intent_too_short", "intent_without_exclusion"]
    """What kind of hint, for programs."""

    message: str
    """What to add."""


class ValidateRuleAnswer(TypedDict):
    platforms: PlatformValidations
    """One entry per platform."""

    intent_hints: NotRequired[list[ValidateRuleAnswerIntentHint]]
    """What the intent lacks for people and a judge. Only when an intent was sent."""

    example_violations: NotRequired[list[Violation]]
    """The examples that fail, as CreateRule would refuse them. Only when examples were sent."""


class SyntaxGuides(TypedDict):
    """One entry per platform."""

    x: NotRequired[SyntaxGuide]
    """On `x`; absent unless the rule, or the request, names it."""

    firehose: NotRequired[SyntaxGuide]
    """On `firehose`; absent unless the rule, or the request, names it."""

    bluesky: NotRequired[SyntaxGuide]
    """On `bluesky`; absent unless the rule, or the request, names it."""


class PlatformSyntaxAnswer(TypedDict):
    platforms: SyntaxGuides
    """One entry per platform."""


class CreatedKey(TypedDict):
    id: str
    """Id of the key."""

    name: str | None
    """As chosen when it was created, for people."""

    display: str
    """Enough of the key to recognise it."""

    scopes: list[Literal[
        "rules:read",
        "rules:write",
        "matches:read",
        "matches:label",
        "readers:write",
        "keys:write",
        "audit:read",
        "webhooks:read",
        "webhooks:write",
    ]]
    """What the key may do."""

    created_at: str
    """When it was created."""

    expires_at: str | None
    """When it stops working; null: never."""

    budget: Budget | None
    """What all rules created with the key may spend together; null for no limit."""

    last_used_at: str | None
    """Exact to about a minute."""

    client: KeyClient | None
    """The program that was authorized by OAuth to use the key; null for a key that a person or
    program holds itself.
    """

    key_id: str
    """Id of the key."""

    key: str | None
    """The key. It is shown only once and is not stored: when the answer is repeated for an
    `Idempotency-Key`, it is null.
    """


class WhoAmIAnswer(TypedDict):
    key_id: str
    """Id of the key."""

    scopes: list[Literal[
        "rules:read",
        "rules:write",
        "matches:read",
        "matches:label",
        "readers:write",
        "keys:write",
        "audit:read",
        "webhooks:read",
        "webhooks:write",
    ]]
    """What the key may do."""


class ListKeysAnswer(TypedDict):
    keys: list[Key]
    """Valid keys, newest first."""

    next_cursor: str | None
    """Continues the list; null when it is complete."""


class RevokeKeyAnswer(TypedDict):
    key_id: str
    """Id of the key."""

    revoked_at: str
    """When it was revoked."""


class ListAuditAnswer(TypedDict):
    entries: list[AuditEntry]
    """Newest first."""

    next_cursor: str | None
    """Continues the list; null when it is complete."""


class CreatedWebhook(TypedDict):
    id: str
    """Id of the webhook."""

    name: str
    """A name that no other webhook of the account has."""

    url: str
    """Where the matches are posted. Of a chat only the host is shown, since its URL is a
    credential.
    """

    format: Literal["standard", "cloudevents", "slack", "discord", "teams"]
    """`standard`: Standard Webhooks. `cloudevents`: a batch of CloudEvents 1.0, signed in the
    same way. `slack`, `discord`, `teams`: a message for people, to the URL of an incoming
    webhook of the chat.
    """

    window_seconds: int
    """Seconds. The endpoint gets at most one message with matches in this time, and full
    messages at once.
    """

    max_matches: int
    """The most matches in one message. Not for chats, which show some and count the rest."""

    rule_ids: list[str] | None
    """Only matches of these rules; null: of every rule. A deleted rule has no matches."""

    platform: Literal["x", "firehose", "bluesky"] | None
    """Only matches on this platform; null: on every platform."""

    relevance: Literal["all", "not_irrelevant", "relevant"]
    """Which matches are left out, as in ListMatches. A match waits for its verdict for 30 s at
    the most.
    """

    group: Literal["story"] | None
    """Posts each story once, with its first match, and again when it has grown to 10, 100, 1,000
    and 10,000 matches. Stories that began before the webhook are new to it. Null: it posts
    every match.
    """

    events: list[Literal["matches", "notices"]]
    """What is posted: `matches`, narrowed by `rule_ids` and `platform`; `notices`: all of the
    account, one in each message.
    """

    state: Literal["active", "paused", "disabled"]
    """`disabled`: Earshot has stopped trying; see `reason`. `UpdateWebhook` enables it again."""

    reason: Literal["gone", "failing"] | None
    """Why it is disabled; null if it is not. `gone`: the endpoint answered 410, or that of a
    chat 401, 403 or 404. `failing`: five days of nothing but failures.
    """

    failing_since: str | None
    """Null while deliveries succeed."""

    next_attempt_at: str | None
    """When a failed delivery is tried again; null when none waits."""

    created_at: str
    """When it was created."""

    updated_at: str
    """When it last changed."""

    webhook_id: str
    """Id of the webhook."""

    secret: str | None
    """The signing secret, `whsec_…`. It is shown this once. Null for a chat, and when the answer
    is repeated for an `Idempotency-Key`.
    """


class ListWebhooksAnswer(TypedDict):
    webhooks: list[Webhook]
    """Newest first."""

    next_cursor: str | None
    """Continues the list; null when it is complete."""


class DeleteWebhookAnswer(TypedDict):
    webhook_id: str
    """Id of the webhook."""

    deleted_at: str
    """When it was deleted."""


class RotateWebhookSecretAnswer(TypedDict):
    webhook_id: str
    """Id of the webhook."""

    secret: str | None
    """The signing secret, `whsec_…`. It is shown this once. Null for a chat, and when the answer
    is repeated for an `Idempotency-Key`.
    """

    previous_expires_at: str
    """Until then, every message also has the signature of the previous secret."""


class TestWebhookAnswer(TypedDict):
    webhook_id: str
    """Id of the webhook."""

    outcome: Literal["delivered", "failed", "refused", "gone", "not_sent", "parked"]
    """`refused`: a 4xx answer. `not_sent`: our own network failed, which is not held against the
    endpoint. `parked`: a match that the endpoint refuses while it takes others; it was left
    out.
    """

    status: int | None
    """HTTP status; null when there was no answer."""

    latency_ms: int | None
    """How long the answer took; null when there was none."""

    message: str | None
    """Why there was no answer."""

    response: str | None
    """The first 1 KiB of the answer."""


class ListDeliveriesAnswer(TypedDict):
    deliveries: list[Delivery]
    """Newest first. What was delivered is listed for a day, everything else for 30 days."""

    next_cursor: str | None
    """Continues the list; null when it is complete."""


class ReplayWebhookAnswer(TypedDict):
    webhook_id: str
    """Id of the webhook."""

    from_match_id: str | None
    """The first match that is sent again; null when there is none, and nothing changed."""


class Digest(TypedDict):
    """Matches that are sent together, on a schedule."""

    id: str
    """Id of the digest."""

    name: str
    """A name that no other digest of the account has."""

    rule_ids: list[str] | None
    """Only matches of these rules; null: of every rule. A deleted rule has no matches."""

    platform: Literal["x", "firehose", "bluesky"] | None
    """Only matches on this platform; null: on every platform."""

    relevance: Literal["all", "not_irrelevant", "relevant"]
    """Which matches are not shown, as in ListMatches. They are counted."""

    group: Literal["story"] | None
    """Shows each story once, stories with the most matches first, with the number of their
    matches per platform. All of its matches are counted. Null: it shows matches.
    """

    schedule: DigestSchedule
    """When it is sent."""

    recipients: DigestRecipients
    """Where it is sent."""

    min_matches: int
    """The digest is sent only if at least this many matches are waiting; fewer wait for the next
    time. Default: 1.
    """

    empty: Literal["skip", "send"]
    """What to do if nothing has matched: `skip` (the default) sends nothing."""

    max_matches: int
    """How many matches the message shows, newest first; it counts all of them. Default: 50."""

    next_at: str
    """When it is due next."""

    last_number: int
    """The number of the latest digest message; 0 before the first."""

    last_sent_at: str | None
    """When a digest message was last accepted."""

    message: str | None
    """Why the latest digest message was not sent or not made; null if it was sent."""

    created_at: str
    """When it was created."""

    updated_at: str
    """When it was last changed by a request."""


class ListDigestsAnswer(TypedDict):
    digests: list[Digest]
    """Newest first."""

    next_cursor: str | None
    """Continues the list; null when it is complete."""


class DeleteDigestAnswer(TypedDict):
    digest_id: str
    """Id of the digest."""

    deleted_at: str
    """When it was deleted."""


class CreateFeedAnswer(TypedDict):
    id: str
    """Id of the feed."""

    name: str
    """Title of the feed, which no other feed of the account has."""

    rule_ids: list[str] | None
    """Only matches of these rules; null: of every rule. A deleted rule has no matches."""

    platform: Literal["x", "firehose", "bluesky"] | None
    """Only matches on this platform; null: on every platform."""

    relevance: Literal["all", "not_irrelevant", "relevant"]
    """Which matches are left out, as in ListMatches. A match is shown until it has a verdict."""

    query: str | None
    """Only items that contain all these words; null: all items."""

    created_at: str
    """When it was created."""

    expires_at: str | None
    """When its URLs stop working, with the key that created it; null: never."""

    last_read_at: str | None
    """Exact to about 10 minutes; null if it was never read."""

    feed_id: str
    """Id of the feed."""

    atom_url: str | None
    """The URL of the Atom feed. It is shown this once: it needs no key, so treat it as a secret.
    Without EARSHOT_PUBLIC_URL it is a path of this server. Null when the answer is repeated
    for an `Idempotency-Key`.
    """

    json_url: str | None
    """The same as JSON Feed."""


class ListFeedsAnswerFeed(TypedDict):
    """The newest matches, for feed readers."""

    id: str
    """Id of the feed."""

    name: str
    """Title of the feed, which no other feed of the account has."""

    rule_ids: list[str] | None
    """Only matches of these rules; null: of every rule. A deleted rule has no matches."""

    platform: Literal["x", "firehose", "bluesky"] | None
    """Only matches on this platform; null: on every platform."""

    relevance: Literal["all", "not_irrelevant", "relevant"]
    """Which matches are left out, as in ListMatches. A match is shown until it has a verdict."""

    query: str | None
    """Only items that contain all these words; null: all items."""

    created_at: str
    """When it was created."""

    expires_at: str | None
    """When its URLs stop working, with the key that created it; null: never."""

    last_read_at: str | None
    """Exact to about 10 minutes; null if it was never read."""


class ListFeedsAnswer(TypedDict):
    feeds: list[ListFeedsAnswerFeed]
    """Newest first."""

    next_cursor: str | None
    """Continues the list; null when it is complete."""


class DeleteFeedAnswer(TypedDict):
    feed_id: str
    """Id of the feed."""

    deleted_at: str
    """When it was deleted."""


class Archive(TypedDict):
    """A bucket that Earshot writes matches to."""

    id: str
    """Id of the archive."""

    name: str
    """A name that no other archive of the account has."""

    endpoint: str
    """Address of the storage, such as `https://s3.eu-central-1.amazonaws.com`: `https`, port 443
    or 8443, on the public internet.
    """

    region: str
    """Region of the bucket."""

    bucket: str
    """Name of the bucket."""

    prefix: str
    """The names of all objects begin with it, without a slash at the end."""

    access_key_id: str
    """Id of the access key. Its secret is never shown."""

    format: Literal["ndjson.gz", "parquet"]
    """Format of the objects: compressed NDJSON, or Parquet."""

    rule_ids: list[str] | None
    """Only matches of these rules; null: of every rule."""

    state: Literal["active", "failing"]
    """`failing`: the last attempt failed. Earshot retries."""

    message: str | None
    """Why the last attempt failed; null if it did not."""

    failing_since: str | None
    """Null while attempts succeed."""

    covered_through: str
    """Every match up to this time is in the bucket. The end of an hour."""

    created_at: str
    """When it was created."""


class ListArchivesAnswer(TypedDict):
    archives: list[Archive]
    """Newest first."""

    next_cursor: str | None
    """Continues the list; null when it is complete."""


class DeleteArchiveAnswer(TypedDict):
    archive_id: str
    """Id of the archive."""

    deleted_at: str
    """When it was deleted."""
