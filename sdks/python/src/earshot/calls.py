# Generated from the contract by tools/python-sdk.ts. Regenerate it with: pnpm docs:write

"""One method for each operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from . import types
from .request import OMITTED, Omitted, Operation

RETRYABLE: Mapping[str, bool] = {
    "invalid_argument": False,
    "failed_precondition": False,
    "out_of_range": False,
    "unauthenticated": False,
    "permission_denied": False,
    "not_found": False,
    "already_exists": False,
    "aborted": True,
    "resource_exhausted": True,
    "internal": False,
    "unimplemented": False,
    "unavailable": True,
    "deadline_exceeded": True,
}
"""Whether the same request may be sent again."""

OPERATIONS: Mapping[str, Operation] = {
    "CreateRule": Operation("POST", "/api.CreateRule", changes=True, nullable=frozenset({"expires_at", "alerts"})),
    "ListRules": Operation("GET", "/api.ListRules", changes=False),
    "GetRule": Operation("POST", "/api.GetRule", changes=False),
    "UpdateRule": Operation("POST", "/api.UpdateRule", changes=True, nullable=frozenset({"expires_at", "budget", "examples", "relevance", "alerts", "managed_by"})),
    "PauseRule": Operation("POST", "/api.PauseRule", changes=True),
    "ResumeRule": Operation("POST", "/api.ResumeRule", changes=True),
    "DeleteRule": Operation("POST", "/api.DeleteRule", changes=True),
    "PreviewRule": Operation("POST", "/api.PreviewRule", changes=False),
    "ListMatches": Operation("POST", "/matches", changes=False),
    "GetMatch": Operation("POST", "/api.GetMatch", changes=False),
    "CountMatches": Operation("POST", "/api.CountMatches", changes=False),
    "ExportMatches": Operation("POST", "/api.ExportMatches", changes=False),
    "LabelMatches": Operation("POST", "/api.LabelMatches", changes=True, nullable=frozenset({"label"})),
    "ListLabels": Operation("POST", "/api.ListLabels", changes=False),
    "MuteMatches": Operation("POST", "/api.MuteMatches", changes=True),
    "ListMutes": Operation("POST", "/api.ListMutes", changes=False),
    "DeleteMute": Operation("POST", "/api.DeleteMute", changes=True),
    "GetRelevance": Operation("POST", "/api.GetRelevance", changes=False),
    "GetCoverage": Operation("POST", "/api.GetCoverage", changes=False),
    "GetUsage": Operation("POST", "/api.GetUsage", changes=False),
    "ListSources": Operation("POST", "/api.ListSources", changes=False),
    "StreamMatches": Operation("GET", "/matches/stream", changes=False),
    "ReadMatches": Operation("POST", "/api.ReadMatches", changes=False),
    "AckMatches": Operation("POST", "/api.AckMatches", changes=False),
    "ListReaders": Operation("POST", "/api.ListReaders", changes=False),
    "DeleteReader": Operation("POST", "/api.DeleteReader", changes=True),
    "ListNotices": Operation("POST", "/notices", changes=False),
    "StreamNotices": Operation("GET", "/notices/stream", changes=False),
    "ValidateRule": Operation("POST", "/api.ValidateRule", changes=False),
    "PlatformSyntax": Operation("POST", "/platforms/syntax", changes=False),
    "CreateKey": Operation("POST", "/api.CreateKey", changes=True),
    "WhoAmI": Operation("POST", "/api.WhoAmI", changes=False),
    "ListKeys": Operation("POST", "/api.ListKeys", changes=False),
    "RevokeKey": Operation("POST", "/api.RevokeKey", changes=True),
    "ListAudit": Operation("POST", "/api.ListAudit", changes=False),
    "CreateWebhook": Operation("POST", "/api.CreateWebhook", changes=True, nullable=frozenset({"rule_ids"})),
    "ListWebhooks": Operation("POST", "/api.ListWebhooks", changes=False),
    "UpdateWebhook": Operation("POST", "/api.UpdateWebhook", changes=True, nullable=frozenset({"rule_ids", "platform", "group"})),
    "DeleteWebhook": Operation("POST", "/api.DeleteWebhook", changes=True),
    "RotateWebhookSecret": Operation("POST", "/api.RotateWebhookSecret", changes=True),
    "TestWebhook": Operation("POST", "/api.TestWebhook", changes=True),
    "ListDeliveries": Operation("POST", "/api.ListDeliveries", changes=False),
    "ReplayWebhook": Operation("POST", "/api.ReplayWebhook", changes=True),
    "CreateDigest": Operation("POST", "/api.CreateDigest", changes=True, nullable=frozenset({"rule_ids"})),
    "ListDigests": Operation("POST", "/api.ListDigests", changes=False),
    "UpdateDigest": Operation("POST", "/api.UpdateDigest", changes=True, nullable=frozenset({"rule_ids", "group"})),
    "DeleteDigest": Operation("POST", "/api.DeleteDigest", changes=True),
    "CreateFeed": Operation("POST", "/api.CreateFeed", changes=True, nullable=frozenset({"rule_ids"})),
    "ListFeeds": Operation("POST", "/api.ListFeeds", changes=False),
    "DeleteFeed": Operation("POST", "/api.DeleteFeed", changes=True),
    "CreateArchive": Operation("POST", "/api.CreateArchive", changes=True, nullable=frozenset({"rule_ids"})),
    "ListArchives": Operation("POST", "/api.ListArchives", changes=False),
    "DeleteArchive": Operation("POST", "/api.DeleteArchive", changes=True),
}


class Calls:
    """The operations of the synchronous client."""

    def _call(
        self,
        operation: str,
        request: Mapping[str, object],
        timeout: float | None,
        idempotency_key: str | None = None,
    ) -> Any:
        raise NotImplementedError

    def create_rule(
        self,
        *,
        name: str,
        intent: str,
        platforms: Sequence[Literal["x", "firehose", "bluesky"]],
        overrides: types.Overrides,
        options: types.Options | None = None,
        accept_suspicious: bool | None = None,
        expires_at: str | None | Omitted = OMITTED,
        budget: types.NewBudget | None = None,
        trial: types.Trial | None = None,
        accept_estimate: bool | None = None,
        allow_equivalent: bool | None = None,
        examples: types.NewRuleExamples | None = None,
        relevance: types.CreateRuleRequestRelevance | None = None,
        alerts: Literal["low", "medium", "high"] | None | Omitted = OMITTED,
        managed_by: types.ManagedBy | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.CreatedRule:
        """Create a rule.

        Creates the rule on all listed platforms, or fails and leaves nothing behind. Its
        `examples` are checked first.

        Args:
            name: Name of the rule, for people.
            intent: What the rule is for; context for agents.
            platforms: Platforms to create the rule on.
            overrides: One query for each listed platform.
            options: Platform options besides the query. Options that you leave out have the
                platform's default.
            accept_suspicious: Register the queries although they have suspicious findings:
                the platform accepts them, but they are almost certainly mistakes. Errors are
                still refused.
            expires_at: When the rule is paused automatically: a time in the future, or null
                for never.
            budget: What may be spent in a period. It may stop the rule early, never late by
                more than what the platform delivers until it applies a pause (up to 70 s on
                X, 15 s on Firehose). The rule resumes when the next period begins, at
                midnight UTC.
            trial: Runs the rule for a short time to measure how much it matches. It sets
                `expires_at` and `budget`. PreviewRule then uses the result as an estimate. To
                continue, change both with UpdateRule and resume the rule.
            accept_estimate: Continue although the estimated cost is above the budget of the
                rule, the key or the account.
            allow_equivalent: Default true. False: refuse the rule if another rule of the
                account has the same queries.
            examples: Example items for the rule. They are checked before anything is
                registered, and again when the value changes; one that fails is a violation.
            relevance: Whether a judge, a model that the operator set up, checks the matches
                of the rule.
            alerts: How sensitively Earshot reports spikes and drops of the matches as
                notices: `low` only large ones, `high` also small ones that may be chance.
                Null: not at all.
            managed_by: For rules that are kept as code. `earshot apply` changes and deletes
                only rules of the set in its file. Only one rule at a time can have a pair.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "name": name,
            "intent": intent,
            "platforms": platforms,
            "overrides": overrides,
            "options": options,
            "accept_suspicious": accept_suspicious,
            "expires_at": expires_at,
            "budget": budget,
            "trial": trial,
            "accept_estimate": accept_estimate,
            "allow_equivalent": allow_equivalent,
            "examples": examples,
            "relevance": relevance,
            "alerts": alerts,
            "managed_by": managed_by,
        }
        answer: types.CreatedRule = self._call("CreateRule", request, timeout, idempotency_key)
        return answer

    def list_rules(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.ListRulesAnswer:
        """List rules.

        Lists the rules of the account, newest first. Without parameters, all rules are
        listed. Also accepts POST with a JSON body.

        Args:
            limit: Rules per page. Without it, all rules are listed.
            cursor: `next_cursor` of the previous page.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "limit": limit,
            "cursor": cursor,
        }
        answer: types.ListRulesAnswer = self._call("ListRules", request, timeout)
        return answer

    def get_rule(
        self,
        *,
        rule_id: str,
        timeout: float | None = None,
    ) -> types.Rule:
        """Get a rule.

        Returns one rule.

        Args:
            rule_id: Id of the rule.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "rule_id": rule_id,
        }
        answer: types.Rule = self._call("GetRule", request, timeout)
        return answer

    def update_rule(
        self,
        *,
        rule_id: str,
        name: str | None = None,
        intent: str | None = None,
        platforms: Sequence[Literal["x", "firehose", "bluesky"]] | None = None,
        overrides: types.Overrides | None = None,
        options: types.Options | None = None,
        accept_suspicious: bool | None = None,
        expires_at: str | None | Omitted = OMITTED,
        budget: types.NewBudget | None | Omitted = OMITTED,
        accept_estimate: bool | None = None,
        examples: types.NewRuleExamples | None | Omitted = OMITTED,
        relevance: types.CreateRuleRequestRelevance | None | Omitted = OMITTED,
        alerts: Literal["low", "medium", "high"] | None | Omitted = OMITTED,
        managed_by: types.ManagedBy | None | Omitted = OMITTED,
        if_version: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.Rule:
        """Change a rule.

        Changes the fields that you send, as the next version of the rule. A new value is
        registered before the old one is removed, so nothing is missed in between; for some
        seconds the old one may still match, and such matches have its version. When a
        platform refuses the new value, the rule stays as it was.

        Args:
            rule_id: Id of the rule.
            name: Name of the rule, for people.
            intent: What the rule is for; context for agents.
            platforms: All platforms of the rule. Without `overrides`, the rule leaves the
                other platforms, and returns to platforms that it had left with its previous
                values.
            overrides: New values. Without `platforms`, only the named platforms change; with
                `platforms`, exactly one for each of these.
            options: New options of the platforms named here, in place of those that they
                have: what is left out has the platform's default.
            accept_suspicious: Register the queries although they have suspicious findings:
                the platform accepts them, but they are almost certainly mistakes. Errors are
                still refused.
            expires_at: When the rule is paused automatically: a time in the future, or null
                for never.
            budget: Replaces the current one; null for none. A rule that was paused for its
                budget resumes within seconds when the new one is not reached.
            accept_estimate: Continue although the estimated cost is above the budget of the
                rule, the key or the account.
            examples: Replaces the current ones; null for none. If missing, the current ones
                are checked.
            relevance: Replaces the current one; null: the judge no longer checks its matches.
                Verdicts stay.
            alerts: How sensitively Earshot reports spikes and drops of the matches as
                notices: `low` only large ones, `high` also small ones that may be chance.
                Null: not at all.
            managed_by: Gives the rule to a set of rules that are kept as code; null takes it
                out.
            if_version: Only if the rule still has this version; otherwise
                `failed_precondition`, and nothing is done.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "rule_id": rule_id,
            "name": name,
            "intent": intent,
            "platforms": platforms,
            "overrides": overrides,
            "options": options,
            "accept_suspicious": accept_suspicious,
            "expires_at": expires_at,
            "budget": budget,
            "accept_estimate": accept_estimate,
            "examples": examples,
            "relevance": relevance,
            "alerts": alerts,
            "managed_by": managed_by,
            "if_version": if_version,
        }
        answer: types.Rule = self._call("UpdateRule", request, timeout, idempotency_key)
        return answer

    def pause_rule(
        self,
        *,
        rule_id: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.Rule:
        """Pause a rule.

        Removes the rule from its platforms, and keeps the rule and its matches. A paused rule
        still counts towards the plan. Pausing a paused rule succeeds and changes nothing; if
        a budget paused it, it no longer resumes automatically.

        Args:
            rule_id: Id of the rule.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "rule_id": rule_id,
        }
        answer: types.Rule = self._call("PauseRule", request, timeout, idempotency_key)
        return answer

    def resume_rule(
        self,
        *,
        rule_id: str,
        accept_estimate: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.Rule:
        """Resume a paused rule.

        Registers the rule on all its platforms again, or fails and leaves it paused. A rule
        that was paused for a budget is not resumed before the next period: give it a larger
        one with UpdateRule.

        Args:
            rule_id: Id of the rule.
            accept_estimate: Continue although the estimated cost is above the budget of the
                rule, the key or the account.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "rule_id": rule_id,
            "accept_estimate": accept_estimate,
        }
        answer: types.Rule = self._call("ResumeRule", request, timeout, idempotency_key)
        return answer

    def delete_rule(
        self,
        *,
        rule_id: str,
        if_version: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.DeleteRuleAnswer:
        """Delete a rule.

        Deletes the rule. Its matches are no longer listed, and it is removed from the
        platforms within seconds.

        Args:
            rule_id: Id of the rule to delete.
            if_version: Only if the rule still has this version; otherwise
                `failed_precondition`, and nothing is done.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "rule_id": rule_id,
            "if_version": if_version,
        }
        answer: types.DeleteRuleAnswer = self._call("DeleteRule", request, timeout, idempotency_key)
        return answer

    def preview_rule(
        self,
        *,
        overrides: types.Overrides,
        platforms: Sequence[Literal["x", "firehose", "bluesky"]] | None = None,
        options: types.Options | None = None,
        rule_id: str | None = None,
        days: int | None = None,
        timeout: float | None = None,
    ) -> types.PreviewRuleAnswer:
        """Preview a rule.

        Shows what a query would match: how many matches a day and their cost, which stored
        items of the account it matches, and how it differs from an existing rule. Nothing is
        created. Errors in a query are refused as CreateRule does; suspicious findings are in
        `warnings`.

        Args:
            overrides: One query for each listed platform.
            platforms: Platforms of the rule. Default: the platforms that `overrides` names.
            options: Platform options besides the query. Options that you leave out have the
                platform's default.
            rule_id: A rule to compare the draft with.
            days: How many days of stored items to evaluate; at most the retention of matches.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "overrides": overrides,
            "platforms": platforms,
            "options": options,
            "rule_id": rule_id,
            "days": days,
        }
        answer: types.PreviewRuleAnswer = self._call("PreviewRule", request, timeout)
        return answer

    def list_matches(
        self,
        *,
        rule_id: str | None = None,
        platform: Literal["x", "firehose", "bluesky"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["newest", "oldest"] | None = None,
        query: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        relevance: Literal["all", "not_irrelevant", "relevant"] | None = None,
        group: Literal["story"] | None = None,
        story_id: str | None = None,
        hidden: Literal["exclude", "include", "only"] | None = None,
        wait_seconds: int | None = None,
        timeout: float | None = None,
    ) -> types.ListMatchesAnswer:
        """List matches.

        Lists stored matches. To follow new matches, send `order: "oldest"`, keep
        `next_cursor` and send it with the next request. The answers then also list removals.

        Args:
            rule_id: Only matches of this rule.
            platform: Only matches on this platform.
            limit: Number of matches to return; fewer when they are large: an answer ends at
                about 1 MiB.
            cursor: `next_cursor` of the previous answer.
            order: Which end to start from.
            query: Only matches whose text, title, address or author contains all of these
                words, in upper or lower case. One request searches up to 5,000 matches, so a
                page may be empty although `next_cursor` continues. Only with `order:
                "newest"`.
            from_: Only matches created at or after this time.
            to: Only matches created before this time.
            relevance: Default `all`. `not_irrelevant` leaves out matches that are
                `not_relevant` by label or judge, `relevant` also those that are `unsure`.
                Matches without a verdict are never left out.
            group: Lists each story once and counts its other matches in `hidden.in_story`.
                With the newest first, a story is its newest match; otherwise its first, and
                again when it has grown to 10, 100, 1,000 and 10,000 matches.
            story_id: Only matches of this story, each with the reason why it is in it.
            hidden: Matches that a mute or `relevance` hides: leave them out and count them
                (the default), list them too, or list only them.
            wait_seconds: Waits up to this long for something newer than the cursor. Only with
                `order: "oldest"`.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "rule_id": rule_id,
            "platform": platform,
            "limit": limit,
            "cursor": cursor,
            "order": order,
            "query": query,
            "from": from_,
            "to": to,
            "relevance": relevance,
            "group": group,
            "story_id": story_id,
            "hidden": hidden,
            "wait_seconds": wait_seconds,
        }
        answer: types.ListMatchesAnswer = self._call("ListMatches", request, timeout)
        return answer

    def get_match(
        self,
        *,
        match_id: str,
        timeout: float | None = None,
    ) -> types.Match:
        """Get a match.

        Returns one stored match. A match that was removed, whose rule was deleted, or that is
        older than the retention period does not exist.

        Args:
            match_id: Id of the match.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "match_id": match_id,
        }
        answer: types.Match = self._call("GetMatch", request, timeout)
        return answer

    def count_matches(
        self,
        *,
        from_: str,
        to: str,
        step: int,
        rule_id: str | None = None,
        platform: Literal["x", "firehose", "bluesky"] | None = None,
        by: Literal["rule", "platform"] | None = None,
        timeout: float | None = None,
    ) -> types.CountMatchesAnswer:
        """Count matches.

        Counts stored matches by the time at which they were created, in steps of equal
        length: what `POST /matches` lists between the same `from` and `to`, with the hidden
        ones. Earshot refuses to count more than 1,000,000 matches, or for too long: request a
        shorter time or one rule.

        Args:
            from_: Where the first step begins.
            to: Where the last step ends; it can be shorter than the others.
            step: Seconds. At most 500 steps fit between `from` and `to`.
            rule_id: Only matches of this rule.
            platform: Only matches on this platform.
            by: One series per rule or platform that has matches. Default: one for all.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "from": from_,
            "to": to,
            "step": step,
            "rule_id": rule_id,
            "platform": platform,
            "by": by,
        }
        answer: types.CountMatchesAnswer = self._call("CountMatches", request, timeout)
        return answer

    def label_matches(
        self,
        *,
        match_ids: Sequence[str],
        label: Literal["relevant", "not_relevant"] | None,
        note: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.LabelMatchesAnswer:
        """Label matches.

        Says whether matches are relevant to the intent of their rule. A match has one label;
        a new one replaces it. Labels stay when the rule changes, and are deleted with the
        rule or the item.

        Args:
            match_ids: At most 100 matches of the account.
            label: Null removes the label.
            note: Why, for people and for the judge.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "match_ids": match_ids,
            "label": label,
            "note": note,
        }
        answer: types.LabelMatchesAnswer = self._call("LabelMatches", request, timeout, idempotency_key)
        return answer

    def list_labels(
        self,
        *,
        rule_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.ListLabelsAnswer:
        """List labels.

        Lists the labels of the account, by match, the newest match first.

        Args:
            rule_id: Only matches of this rule.
            limit: Entries per page.
            cursor: `next_cursor` of the previous page.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "rule_id": rule_id,
            "limit": limit,
            "cursor": cursor,
        }
        answer: types.ListLabelsAnswer = self._call("ListLabels", request, timeout)
        return answer

    def mute_matches(
        self,
        *,
        rule_id: str | None = None,
        author: str | None = None,
        domain: str | None = None,
        phrase: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.MuteMatchesAnswer:
        """Mute an author, site or phrase.

        Lists, streams, readers and deliveries leave out matching items, past and future, and
        count them. The items are still stored and billed: to save their price, exclude them
        in the query. DeleteMute shows them again.

        Args:
            rule_id: Only matches of this rule.
            author: Author by handle or by id on the platform.
            domain: Site of the item: this domain and its subdomains.
            phrase: Words in this order in the text or title, in upper or lower case.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "rule_id": rule_id,
            "author": author,
            "domain": domain,
            "phrase": phrase,
        }
        answer: types.MuteMatchesAnswer = self._call("MuteMatches", request, timeout, idempotency_key)
        return answer

    def list_mutes(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.ListMutesAnswer:
        """List mutes.

        Lists the mutes of the account.

        Args:
            limit: Entries per page.
            cursor: `next_cursor` of the previous page.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "limit": limit,
            "cursor": cursor,
        }
        answer: types.ListMutesAnswer = self._call("ListMutes", request, timeout)
        return answer

    def delete_mute(
        self,
        *,
        mute_id: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.DeleteMuteAnswer:
        """Delete a mute.

        The matches that it left out are listed again. Streams and deliveries do not repeat
        them.

        Args:
            mute_id: Id of the mute.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "mute_id": mute_id,
        }
        answer: types.DeleteMuteAnswer = self._call("DeleteMute", request, timeout, idempotency_key)
        return answer

    def get_relevance(
        self,
        *,
        rule_id: str,
        timeout: float | None = None,
    ) -> types.GetRelevanceAnswer:
        """Get the relevance of a rule.

        How well the matches of a rule fit its intent, and how much the judge wrongly rejects,
        estimated from your labels. Each share has its 95% interval (Wilson).

        Args:
            rule_id: Id of the rule.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "rule_id": rule_id,
        }
        answer: types.GetRelevanceAnswer = self._call("GetRelevance", request, timeout)
        return answer

    def get_coverage(
        self,
        *,
        rule_id: str | None = None,
        platform: Literal["x", "firehose", "bluesky"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        planned_ends: bool | None = None,
        timeout: float | None = None,
    ) -> types.GetCoverageAnswer:
        """Get coverage.

        Returns the periods in which Earshot received a rule or a platform, the gaps, and
        their repairs. With it, you can distinguish a quiet period from an outage.

        Args:
            rule_id: Only the coverage of this rule.
            platform: Only this platform.
            from_: Start of the window. Default: a day before its end.
            to: End of the window. Default: now.
            planned_ends: Also show planned interruptions by a platform that were replayed
                completely. By default they count as live.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "rule_id": rule_id,
            "platform": platform,
            "from": from_,
            "to": to,
            "planned_ends": planned_ends,
        }
        answer: types.GetCoverageAnswer = self._call("GetCoverage", request, timeout)
        return answer

    def get_usage(
        self,
        *,
        rule_id: str | None = None,
        platform: Literal["x", "firehose", "bluesky"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        by: Literal["day", "rule"] | None = None,
        timeout: float | None = None,
    ) -> types.GetUsageAnswer:
        """Get usage.

        Returns how much your rules matched and its cost, per UTC day or per rule. It depends
        only on your own matches. Deleted rules are included.

        Args:
            rule_id: Only this rule.
            platform: Only this platform.
            from_: Start of the window: the UTC day of this time. Default: 29 days before its
                end.
            to: End of the window: the UTC day of this time, included. Default: today.
            by: One entry per day or rule, and platform. Default: one per platform.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "rule_id": rule_id,
            "platform": platform,
            "from": from_,
            "to": to,
            "by": by,
        }
        answer: types.GetUsageAnswer = self._call("GetUsage", request, timeout)
        return answer

    def list_sources(
        self,
        *,
        timeout: float | None = None,
    ) -> types.ListSourcesAnswer:
        """List sources.

        Lists each connection to a platform: whether it receives, since when, and what to do
        if it does not.

        Args:
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {}
        answer: types.ListSourcesAnswer = self._call("ListSources", request, timeout)
        return answer

    def read_matches(
        self,
        *,
        reader: str,
        of: Literal["matches", "notices"] | None = None,
        rule_id: str | None = None,
        platform: Literal["x", "firehose", "bluesky"] | None = None,
        relevance: Literal["all", "not_irrelevant", "relevant"] | None = None,
        group: Literal["story"] | None = None,
        start: Literal["oldest", "now"] | None = None,
        limit: int | None = None,
        wait_seconds: int | None = None,
        timeout: float | None = None,
    ) -> types.ReadMatchesAnswer:
        """Read matches with a named reader.

        Returns what this reader has not acknowledged yet, and returns it again until
        `AckMatches` moves it. A reader is made at its first use; its filter is then part of
        it and need not be sent again.

        Args:
            reader: Name of the reader, chosen by you.
            of: What it reads, sent each time. A reader of notices reads all of them.
            rule_id: At the first use: only matches of this rule.
            platform: At the first use: only matches on this platform.
            relevance: At the first use: what to leave out, as in ListMatches. Default: `all`.
            group: At the first use: lists stories, as in ListMatches.
            start: At the first use: start with new matches, or with the oldest stored match.
            limit: Number of matches to return; fewer when they are large: an answer ends at
                about 1 MiB.
            wait_seconds: Waits up to this long for a match.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "reader": reader,
            "of": of,
            "rule_id": rule_id,
            "platform": platform,
            "relevance": relevance,
            "group": group,
            "start": start,
            "limit": limit,
            "wait_seconds": wait_seconds,
        }
        answer: types.ReadMatchesAnswer = self._call("ReadMatches", request, timeout)
        return answer

    def ack_matches(
        self,
        *,
        reader: str,
        cursor: str,
        rewind: bool | None = None,
        timeout: float | None = None,
    ) -> types.AckMatchesAnswer:
        """Acknowledge matches.

        Moves a named reader past the matches that came with the cursor. Repeating the call
        changes nothing.

        Args:
            reader: Name of the reader, chosen by you.
            cursor: `cursor` of an answer of `ReadMatches`.
            rewind: Allow moving back, to read acknowledged matches again; needs the scope
                `readers:write`. Otherwise an older cursor changes nothing.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "reader": reader,
            "cursor": cursor,
            "rewind": rewind,
        }
        answer: types.AckMatchesAnswer = self._call("AckMatches", request, timeout)
        return answer

    def list_readers(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.ListReadersAnswer:
        """List named readers.

        Lists the named readers of the account.

        Args:
            limit: Entries per page.
            cursor: `next_cursor` of the previous page.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "limit": limit,
            "cursor": cursor,
        }
        answer: types.ListReadersAnswer = self._call("ListReaders", request, timeout)
        return answer

    def delete_reader(
        self,
        *,
        reader: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.DeleteReaderAnswer:
        """Delete a named reader.

        Deletes the reader and its position. Matches are not affected.

        Args:
            reader: Name of the reader, chosen by you.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "reader": reader,
        }
        answer: types.DeleteReaderAnswer = self._call("DeleteReader", request, timeout, idempotency_key)
        return answer

    def list_notices(
        self,
        *,
        open: Literal[True] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["newest", "oldest"] | None = None,
        wait_seconds: int | None = None,
        timeout: float | None = None,
    ) -> types.ListNoticesAnswer:
        """List notices.

        Lists notices. A resolved notice moves to the end of the log, so each is listed once,
        in its current state. To follow them, send `order: "oldest"`, keep `next_cursor` and
        send it with the next request: a notice is listed again when it is resolved.

        Args:
            open: Only those that are not resolved.
            limit: Entries per page.
            cursor: `next_cursor` of the previous answer.
            order: Which end to start from.
            wait_seconds: Waits up to this long for something newer than the cursor. Only with
                `order: "oldest"`.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "open": open,
            "limit": limit,
            "cursor": cursor,
            "order": order,
            "wait_seconds": wait_seconds,
        }
        answer: types.ListNoticesAnswer = self._call("ListNotices", request, timeout)
        return answer

    def validate_rule(
        self,
        *,
        overrides: types.Overrides,
        platforms: Sequence[Literal["x", "firehose", "bluesky"]] | None = None,
        intent: str | None = None,
        examples: types.NewRuleExamples | None = None,
        timeout: float | None = None,
    ) -> types.ValidateRuleAnswer:
        """Check a rule without creating it.

        Reports errors in the queries with positions and fixes, and the queries that would be
        registered. Nothing is created.

        Args:
            overrides: One query for each listed platform.
            platforms: Platforms of the rule. Default: the platforms that `overrides` names.
            intent: Returns hints about it. Never an error.
            examples: Example items for the rule. They are checked before anything is
                registered, and again when the value changes; one that fails is a violation.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "overrides": overrides,
            "platforms": platforms,
            "intent": intent,
            "examples": examples,
        }
        answer: types.ValidateRuleAnswer = self._call("ValidateRule", request, timeout)
        return answer

    def platform_syntax(
        self,
        *,
        platforms: Sequence[Literal["x", "firehose", "bluesky"]] | None = None,
        timeout: float | None = None,
    ) -> types.PlatformSyntaxAnswer:
        """Get platform syntax.

        Explains how to write queries for each platform. Any valid key may call it.

        Args:
            platforms: Platforms to explain; all by default.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "platforms": platforms,
        }
        answer: types.PlatformSyntaxAnswer = self._call("PlatformSyntax", request, timeout)
        return answer

    def create_key(
        self,
        *,
        name: str | None = None,
        scopes: Sequence[Literal["rules:read", "rules:write", "matches:read", "matches:label", "readers:write", "keys:write", "audit:read", "webhooks:read", "webhooks:write"]] | None = None,
        expires_at: str | None = None,
        budget: types.NewBudget | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.CreatedKey:
        """Create a key.

        Creates another key of the account, which cannot do more than the calling key.

        Args:
            name: Name of the key, for people: who or what uses it.
            scopes: What the new key may do: no more than the calling key. Default: the same.
            expires_at: When the new key expires: in the future, and no later than the calling
                key. Default: the same time.
            budget: What all rules created with the new key may spend together. Default: the
                budget of the calling key, counted separately.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "name": name,
            "scopes": scopes,
            "expires_at": expires_at,
            "budget": budget,
        }
        answer: types.CreatedKey = self._call("CreateKey", request, timeout, idempotency_key)
        return answer

    def who_am_i(
        self,
        *,
        timeout: float | None = None,
    ) -> types.WhoAmIAnswer:
        """Get the calling key.

        Returns the id and scopes of the key that sends this request. Any valid key may call
        it.

        Args:
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {}
        answer: types.WhoAmIAnswer = self._call("WhoAmI", request, timeout)
        return answer

    def list_keys(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.ListKeysAnswer:
        """List keys.

        Lists the valid keys of the account, without the keys themselves.

        Args:
            limit: Entries per page.
            cursor: `next_cursor` of the previous page.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "limit": limit,
            "cursor": cursor,
        }
        answer: types.ListKeysAnswer = self._call("ListKeys", request, timeout)
        return answer

    def revoke_key(
        self,
        *,
        key_id: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.RevokeKeyAnswer:
        """Revoke a key.

        Revokes a key of the account: within 5 seconds no node accepts it any more, and its
        open streams end. Keys that were created with it keep working: `ListAudit` names them.

        Args:
            key_id: Id of the key to revoke; your own is allowed.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "key_id": key_id,
        }
        answer: types.RevokeKeyAnswer = self._call("RevokeKey", request, timeout, idempotency_key)
        return answer

    def list_audit(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.ListAuditAnswer:
        """List changes.

        Lists the changes of rules, keys, webhooks, digests and readers of the account. Newest
        first.

        Args:
            limit: Entries per page.
            cursor: `next_cursor` of the previous page.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "limit": limit,
            "cursor": cursor,
        }
        answer: types.ListAuditAnswer = self._call("ListAudit", request, timeout)
        return answer

    def create_webhook(
        self,
        *,
        name: str,
        url: str,
        format: Literal["standard", "cloudevents", "slack", "discord", "teams"] | None = None,
        window_seconds: int | None = None,
        max_matches: int | None = None,
        rule_ids: Sequence[str] | None | Omitted = OMITTED,
        platform: Literal["x", "firehose", "bluesky"] | None = None,
        relevance: Literal["all", "not_irrelevant", "relevant"] | None = None,
        group: Literal["story"] | None = None,
        events: Sequence[Literal["matches", "notices"]] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.CreatedWebhook:
        """Create a webhook.

        Posts every match from now on to the URL: signed by Standard Webhooks, in order, at
        least once. The secret is shown once. Messages for a chat are not signed, so a chat
        has no secret.

        Args:
            name: A name that no other webhook of the account has.
            url: Where the matches are posted: `https`, port 443 or 8443, on the public
                internet.
            format: `standard`: Standard Webhooks. `cloudevents`: a batch of CloudEvents 1.0,
                signed in the same way. `slack`, `discord`, `teams`: a message for people, to
                the URL of an incoming webhook of the chat.
            window_seconds: Seconds. The endpoint gets at most one message with matches in
                this time, and full messages at once. 1 by default. A chat: 30 or more, 60 by
                default.
            max_matches: The most matches in one message. Not for chats, which show some and
                count the rest. 100 by default.
            rule_ids: Only matches of these rules; null or absent: of every rule.
            platform: Only matches on this platform.
            relevance: Which matches are left out, as in ListMatches. A match waits for its
                verdict for 30 s at the most. `all` by default.
            group: Posts each story once, with its first match, and again when it has grown to
                10, 100, 1,000 and 10,000 matches. Stories that began before the webhook are
                new to it.
            events: What is posted; `matches` by default.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "name": name,
            "url": url,
            "format": format,
            "window_seconds": window_seconds,
            "max_matches": max_matches,
            "rule_ids": rule_ids,
            "platform": platform,
            "relevance": relevance,
            "group": group,
            "events": events,
        }
        answer: types.CreatedWebhook = self._call("CreateWebhook", request, timeout, idempotency_key)
        return answer

    def list_webhooks(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.ListWebhooksAnswer:
        """List webhooks.

        Lists the webhooks of the account with their delivery state, without their secrets.

        Args:
            limit: Entries per page.
            cursor: `next_cursor` of the previous page.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "limit": limit,
            "cursor": cursor,
        }
        answer: types.ListWebhooksAnswer = self._call("ListWebhooks", request, timeout)
        return answer

    def update_webhook(
        self,
        *,
        webhook_id: str,
        name: str | None = None,
        url: str | None = None,
        format: Literal["standard", "cloudevents", "slack", "discord", "teams"] | None = None,
        window_seconds: int | None = None,
        max_matches: int | None = None,
        rule_ids: Sequence[str] | None | Omitted = OMITTED,
        platform: Literal["x", "firehose", "bluesky"] | None | Omitted = OMITTED,
        relevance: Literal["all", "not_irrelevant", "relevant"] | None = None,
        group: Literal["story"] | None | Omitted = OMITTED,
        events: Sequence[Literal["matches", "notices"]] | None = None,
        state: Literal["active", "paused"] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.Webhook:
        """Change, pause or enable a webhook.

        Changes the fields that are named. A paused or disabled webhook continues where it
        stopped. If you send `state: "active"`, a failing webhook is tried at once.

        Args:
            webhook_id: Id of the webhook.
            name: A name that no other webhook of the account has.
            url: Where the matches are posted: `https`, port 443 or 8443, on the public
                internet.
            format: A new format. To change from a chat format to `standard` or `cloudevents`,
                also send a `url`, then rotate the secret to get one.
            window_seconds: Seconds. The endpoint gets at most one message with matches in
                this time, and full messages at once.
            max_matches: The most matches in one message. Not for chats, which show some and
                count the rest.
            rule_ids: Only matches of these rules; null: of every rule. Matches of an added
                rule are posted from now on, or from where the webhook stopped if it has not
                sent everything.
            platform: Only this platform; null: every platform.
            relevance: Which matches are left out, as in ListMatches. A match waits for its
                verdict for 30 s at the most.
            group: Posts each story once, with its first match, and again when it has grown to
                10, 100, 1,000 and 10,000 matches. Stories that began before the webhook are
                new to it.
            events: Which events are posted from now on.
            state: `active` also enables a disabled webhook. It continues where it stopped.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "webhook_id": webhook_id,
            "name": name,
            "url": url,
            "format": format,
            "window_seconds": window_seconds,
            "max_matches": max_matches,
            "rule_ids": rule_ids,
            "platform": platform,
            "relevance": relevance,
            "group": group,
            "events": events,
            "state": state,
        }
        answer: types.Webhook = self._call("UpdateWebhook", request, timeout, idempotency_key)
        return answer

    def delete_webhook(
        self,
        *,
        webhook_id: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.DeleteWebhookAnswer:
        """Delete a webhook.

        Ends the deliveries. A message that is already being sent may still arrive. A webhook
        that a digest is sent to cannot be deleted.

        Args:
            webhook_id: Id of the webhook.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "webhook_id": webhook_id,
        }
        answer: types.DeleteWebhookAnswer = self._call("DeleteWebhook", request, timeout, idempotency_key)
        return answer

    def rotate_webhook_secret(
        self,
        *,
        webhook_id: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.RotateWebhookSecretAnswer:
        """Rotate a webhook secret.

        For 24 hours, messages have the signatures of both secrets. Refused for a chat, whose
        messages are not signed.

        Args:
            webhook_id: Id of the webhook.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "webhook_id": webhook_id,
        }
        answer: types.RotateWebhookSecretAnswer = self._call("RotateWebhookSecret", request, timeout, idempotency_key)
        return answer

    def test_webhook(
        self,
        *,
        webhook_id: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.TestWebhookAnswer:
        """Send a test message.

        Posts a test message in the format of the webhook once, now, and returns the answer of
        the endpoint. If the endpoint accepts it, Earshot retries a waiting delivery at once.
        Counts as a change.

        Args:
            webhook_id: Id of the webhook.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "webhook_id": webhook_id,
        }
        answer: types.TestWebhookAnswer = self._call("TestWebhook", request, timeout, idempotency_key)
        return answer

    def list_deliveries(
        self,
        *,
        webhook_id: str,
        outcome: Literal["delivered", "failed", "refused", "gone", "not_sent", "parked"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.ListDeliveriesAnswer:
        """List deliveries of a webhook.

        Lists attempts with their outcome, and the matches that were parked. Newest first. Of
        failures in a row with the same answer, the first three and then one in sixty have an
        entry, and `times` counts the others.

        Args:
            webhook_id: Id of the webhook.
            outcome: Only these, such as `parked` for the matches that were left out.
            limit: Entries per page.
            cursor: `next_cursor` of the previous page.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "webhook_id": webhook_id,
            "outcome": outcome,
            "limit": limit,
            "cursor": cursor,
        }
        answer: types.ListDeliveriesAnswer = self._call("ListDeliveries", request, timeout)
        return answer

    def replay_webhook(
        self,
        *,
        webhook_id: str,
        from_: str | None = None,
        from_match_id: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.ReplayWebhookAnswer:
        """Send matches again.

        Moves the webhook back to a time or a match. Everything from there on is sent again,
        including parked matches.

        Args:
            webhook_id: Id of the webhook.
            from_: Again from the first match created at or after this time.
            from_match_id: Again from this match on.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "webhook_id": webhook_id,
            "from": from_,
            "from_match_id": from_match_id,
        }
        answer: types.ReplayWebhookAnswer = self._call("ReplayWebhook", request, timeout, idempotency_key)
        return answer

    def create_digest(
        self,
        *,
        name: str,
        schedule: types.DigestSchedule,
        recipients: types.DigestRecipients,
        rule_ids: Sequence[str] | None | Omitted = OMITTED,
        platform: Literal["x", "firehose", "bluesky"] | None = None,
        relevance: Literal["all", "not_irrelevant", "relevant"] | None = None,
        group: Literal["story"] | None = None,
        min_matches: int | None = None,
        empty: Literal["skip", "send"] | None = None,
        max_matches: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.Digest:
        """Create a digest.

        Sends the matches from now on, on a schedule, to a webhook or by e-mail. Each match is
        in one digest message.

        Args:
            name: A name that no other digest of the account has.
            schedule: When it is sent: by `cron`, or every `window_seconds`.
            recipients: Where it is sent: to a webhook, or by e-mail.
            rule_ids: Only matches of these rules; null or absent: of every rule.
            platform: Only matches on this platform.
            relevance: Which matches are not shown, as in ListMatches. They are counted. `all`
                by default.
            group: Shows each story once, stories with the most matches first, with the number
                of their matches per platform. All of its matches are counted.
            min_matches: The digest is sent only if at least this many matches are waiting;
                fewer wait for the next time. Default: 1.
            empty: What to do if nothing has matched: `skip` (the default) sends nothing.
            max_matches: How many matches the message shows, newest first; it counts all of
                them. Default: 50.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "name": name,
            "schedule": schedule,
            "recipients": recipients,
            "rule_ids": rule_ids,
            "platform": platform,
            "relevance": relevance,
            "group": group,
            "min_matches": min_matches,
            "empty": empty,
            "max_matches": max_matches,
        }
        answer: types.Digest = self._call("CreateDigest", request, timeout, idempotency_key)
        return answer

    def list_digests(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.ListDigestsAnswer:
        """List digests.

        Lists the digests of the account, when each is due next, and why the latest message
        was not sent.

        Args:
            limit: Entries per page.
            cursor: `next_cursor` of the previous page.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "limit": limit,
            "cursor": cursor,
        }
        answer: types.ListDigestsAnswer = self._call("ListDigests", request, timeout)
        return answer

    def update_digest(
        self,
        *,
        digest_id: str,
        name: str | None = None,
        rule_ids: Sequence[str] | None | Omitted = OMITTED,
        relevance: Literal["all", "not_irrelevant", "relevant"] | None = None,
        group: Literal["story"] | None | Omitted = OMITTED,
        schedule: types.DigestSchedule | None = None,
        recipients: types.DigestRecipients | None = None,
        min_matches: int | None = None,
        empty: Literal["skip", "send"] | None = None,
        max_matches: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.Digest:
        """Change a digest.

        Changes the fields that you send. A digest message that waits to be sent goes to the
        new recipient.

        Args:
            digest_id: Id of the digest.
            name: A name that no other digest of the account has.
            rule_ids: Only matches of these rules; null: of every rule. Applies to every
                digest message that is not sent yet.
            relevance: Which matches are not shown, as in ListMatches. They are counted.
            group: Shows each story once, stories with the most matches first, with the number
                of their matches per platform. All of its matches are counted.
            schedule: When it is sent: by `cron`, or every `window_seconds`.
            recipients: Where it is sent: to a webhook, or by e-mail.
            min_matches: The digest is sent only if at least this many matches are waiting;
                fewer wait for the next time. Default: 1.
            empty: What to do if nothing has matched: `skip` (the default) sends nothing.
            max_matches: How many matches the message shows, newest first; it counts all of
                them. Default: 50.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "digest_id": digest_id,
            "name": name,
            "rule_ids": rule_ids,
            "relevance": relevance,
            "group": group,
            "schedule": schedule,
            "recipients": recipients,
            "min_matches": min_matches,
            "empty": empty,
            "max_matches": max_matches,
        }
        answer: types.Digest = self._call("UpdateDigest", request, timeout, idempotency_key)
        return answer

    def delete_digest(
        self,
        *,
        digest_id: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.DeleteDigestAnswer:
        """Delete a digest.

        Deletes the digest. A waiting digest message is discarded; one that is already being
        sent may still arrive. Matches are not affected.

        Args:
            digest_id: Id of the digest.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "digest_id": digest_id,
        }
        answer: types.DeleteDigestAnswer = self._call("DeleteDigest", request, timeout, idempotency_key)
        return answer

    def create_feed(
        self,
        *,
        name: str,
        rule_ids: Sequence[str] | None | Omitted = OMITTED,
        platform: Literal["x", "firehose", "bluesky"] | None = None,
        relevance: Literal["all", "not_irrelevant", "relevant"] | None = None,
        query: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.CreateFeedAnswer:
        """Create a feed.

        Creates two secret URLs of the newest matches for feed readers, as Atom and as JSON
        Feed. The calling key also needs `matches:read`. The URLs expire with it.

        Args:
            name: Title of the feed, which no other feed of the account has.
            rule_ids: Only matches of these rules; null or absent: of every rule.
            platform: Only matches on this platform.
            relevance: Which matches are left out, as in ListMatches. A match is shown until
                it has a verdict. `all` by default.
            query: Only items that contain all these words in text, title, author or URL.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "name": name,
            "rule_ids": rule_ids,
            "platform": platform,
            "relevance": relevance,
            "query": query,
        }
        answer: types.CreateFeedAnswer = self._call("CreateFeed", request, timeout, idempotency_key)
        return answer

    def list_feeds(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.ListFeedsAnswer:
        """List feeds.

        Lists the feeds of the account, without their URLs.

        Args:
            limit: Entries per page.
            cursor: `next_cursor` of the previous page.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "limit": limit,
            "cursor": cursor,
        }
        answer: types.ListFeedsAnswer = self._call("ListFeeds", request, timeout)
        return answer

    def delete_feed(
        self,
        *,
        feed_id: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.DeleteFeedAnswer:
        """Delete a feed.

        Revokes the URLs of the feed at once, on every node.

        Args:
            feed_id: Id of the feed.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "feed_id": feed_id,
        }
        answer: types.DeleteFeedAnswer = self._call("DeleteFeed", request, timeout, idempotency_key)
        return answer

    def create_archive(
        self,
        *,
        name: str,
        endpoint: str,
        region: str,
        bucket: str,
        prefix: str,
        access_key_id: str,
        secret_access_key: str,
        format: Literal["ndjson.gz", "parquet"] | None = None,
        rule_ids: Sequence[str] | None | Omitted = OMITTED,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.Archive:
        """Create an archive.

        Writes every match from now on to a bucket of an S3-compatible storage, once an hour.
        Within seconds, Earshot writes the manifest of the day, which shows whether the key
        works.

        Args:
            name: A name that no other archive of the account has.
            endpoint: Address of the storage, such as `https://s3.eu-central-1.amazonaws.com`:
                `https`, port 443 or 8443, on the public internet.
            region: Region of the bucket.
            bucket: Name of the bucket.
            prefix: The names of all objects begin with it, without a slash at the end.
            access_key_id: Id of the access key.
            secret_access_key: The secret of the access key. Earshot stores it encrypted, and
                never shows it.
            format: Format of the objects: compressed NDJSON, or Parquet.
            rule_ids: Only matches of these rules; null or absent: of every rule.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "name": name,
            "endpoint": endpoint,
            "region": region,
            "bucket": bucket,
            "prefix": prefix,
            "access_key_id": access_key_id,
            "secret_access_key": secret_access_key,
            "format": format,
            "rule_ids": rule_ids,
        }
        answer: types.Archive = self._call("CreateArchive", request, timeout, idempotency_key)
        return answer

    def list_archives(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.ListArchivesAnswer:
        """List archives.

        Lists the archives of the account with their state, without their secrets.

        Args:
            limit: Entries per page.
            cursor: `next_cursor` of the previous page.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "limit": limit,
            "cursor": cursor,
        }
        answer: types.ListArchivesAnswer = self._call("ListArchives", request, timeout)
        return answer

    def delete_archive(
        self,
        *,
        archive_id: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.DeleteArchiveAnswer:
        """Delete an archive.

        Ends the writing. The objects in the bucket stay.

        Args:
            archive_id: Id of the archive.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "archive_id": archive_id,
        }
        answer: types.DeleteArchiveAnswer = self._call("DeleteArchive", request, timeout, idempotency_key)
        return answer


class AsyncCalls:
    """The operations of the asynchronous client."""

    async def _call(
        self,
        operation: str,
        request: Mapping[str, object],
        timeout: float | None,
        idempotency_key: str | None = None,
    ) -> Any:
        raise NotImplementedError

    async def create_rule(
        self,
        *,
        name: str,
        intent: str,
        platforms: Sequence[Literal["x", "firehose", "bluesky"]],
        overrides: types.Overrides,
        options: types.Options | None = None,
        accept_suspicious: bool | None = None,
        expires_at: str | None | Omitted = OMITTED,
        budget: types.NewBudget | None = None,
        trial: types.Trial | None = None,
        accept_estimate: bool | None = None,
        allow_equivalent: bool | None = None,
        examples: types.NewRuleExamples | None = None,
        relevance: types.CreateRuleRequestRelevance | None = None,
        alerts: Literal["low", "medium", "high"] | None | Omitted = OMITTED,
        managed_by: types.ManagedBy | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.CreatedRule:
        """Create a rule.

        Creates the rule on all listed platforms, or fails and leaves nothing behind. Its
        `examples` are checked first.

        Args:
            name: Name of the rule, for people.
            intent: What the rule is for; context for agents.
            platforms: Platforms to create the rule on.
            overrides: One query for each listed platform.
            options: Platform options besides the query. Options that you leave out have the
                platform's default.
            accept_suspicious: Register the queries although they have suspicious findings:
                the platform accepts them, but they are almost certainly mistakes. Errors are
                still refused.
            expires_at: When the rule is paused automatically: a time in the future, or null
                for never.
            budget: What may be spent in a period. It may stop the rule early, never late by
                more than what the platform delivers until it applies a pause (up to 70 s on
                X, 15 s on Firehose). The rule resumes when the next period begins, at
                midnight UTC.
            trial: Runs the rule for a short time to measure how much it matches. It sets
                `expires_at` and `budget`. PreviewRule then uses the result as an estimate. To
                continue, change both with UpdateRule and resume the rule.
            accept_estimate: Continue although the estimated cost is above the budget of the
                rule, the key or the account.
            allow_equivalent: Default true. False: refuse the rule if another rule of the
                account has the same queries.
            examples: Example items for the rule. They are checked before anything is
                registered, and again when the value changes; one that fails is a violation.
            relevance: Whether a judge, a model that the operator set up, checks the matches
                of the rule.
            alerts: How sensitively Earshot reports spikes and drops of the matches as
                notices: `low` only large ones, `high` also small ones that may be chance.
                Null: not at all.
            managed_by: For rules that are kept as code. `earshot apply` changes and deletes
                only rules of the set in its file. Only one rule at a time can have a pair.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "name": name,
            "intent": intent,
            "platforms": platforms,
            "overrides": overrides,
            "options": options,
            "accept_suspicious": accept_suspicious,
            "expires_at": expires_at,
            "budget": budget,
            "trial": trial,
            "accept_estimate": accept_estimate,
            "allow_equivalent": allow_equivalent,
            "examples": examples,
            "relevance": relevance,
            "alerts": alerts,
            "managed_by": managed_by,
        }
        answer: types.CreatedRule = await self._call("CreateRule", request, timeout, idempotency_key)
        return answer

    async def list_rules(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.ListRulesAnswer:
        """List rules.

        Lists the rules of the account, newest first. Without parameters, all rules are
        listed. Also accepts POST with a JSON body.

        Args:
            limit: Rules per page. Without it, all rules are listed.
            cursor: `next_cursor` of the previous page.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "limit": limit,
            "cursor": cursor,
        }
        answer: types.ListRulesAnswer = await self._call("ListRules", request, timeout)
        return answer

    async def get_rule(
        self,
        *,
        rule_id: str,
        timeout: float | None = None,
    ) -> types.Rule:
        """Get a rule.

        Returns one rule.

        Args:
            rule_id: Id of the rule.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "rule_id": rule_id,
        }
        answer: types.Rule = await self._call("GetRule", request, timeout)
        return answer

    async def update_rule(
        self,
        *,
        rule_id: str,
        name: str | None = None,
        intent: str | None = None,
        platforms: Sequence[Literal["x", "firehose", "bluesky"]] | None = None,
        overrides: types.Overrides | None = None,
        options: types.Options | None = None,
        accept_suspicious: bool | None = None,
        expires_at: str | None | Omitted = OMITTED,
        budget: types.NewBudget | None | Omitted = OMITTED,
        accept_estimate: bool | None = None,
        examples: types.NewRuleExamples | None | Omitted = OMITTED,
        relevance: types.CreateRuleRequestRelevance | None | Omitted = OMITTED,
        alerts: Literal["low", "medium", "high"] | None | Omitted = OMITTED,
        managed_by: types.ManagedBy | None | Omitted = OMITTED,
        if_version: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.Rule:
        """Change a rule.

        Changes the fields that you send, as the next version of the rule. A new value is
        registered before the old one is removed, so nothing is missed in between; for some
        seconds the old one may still match, and such matches have its version. When a
        platform refuses the new value, the rule stays as it was.

        Args:
            rule_id: Id of the rule.
            name: Name of the rule, for people.
            intent: What the rule is for; context for agents.
            platforms: All platforms of the rule. Without `overrides`, the rule leaves the
                other platforms, and returns to platforms that it had left with its previous
                values.
            overrides: New values. Without `platforms`, only the named platforms change; with
                `platforms`, exactly one for each of these.
            options: New options of the platforms named here, in place of those that they
                have: what is left out has the platform's default.
            accept_suspicious: Register the queries although they have suspicious findings:
                the platform accepts them, but they are almost certainly mistakes. Errors are
                still refused.
            expires_at: When the rule is paused automatically: a time in the future, or null
                for never.
            budget: Replaces the current one; null for none. A rule that was paused for its
                budget resumes within seconds when the new one is not reached.
            accept_estimate: Continue although the estimated cost is above the budget of the
                rule, the key or the account.
            examples: Replaces the current ones; null for none. If missing, the current ones
                are checked.
            relevance: Replaces the current one; null: the judge no longer checks its matches.
                Verdicts stay.
            alerts: How sensitively Earshot reports spikes and drops of the matches as
                notices: `low` only large ones, `high` also small ones that may be chance.
                Null: not at all.
            managed_by: Gives the rule to a set of rules that are kept as code; null takes it
                out.
            if_version: Only if the rule still has this version; otherwise
                `failed_precondition`, and nothing is done.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "rule_id": rule_id,
            "name": name,
            "intent": intent,
            "platforms": platforms,
            "overrides": overrides,
            "options": options,
            "accept_suspicious": accept_suspicious,
            "expires_at": expires_at,
            "budget": budget,
            "accept_estimate": accept_estimate,
            "examples": examples,
            "relevance": relevance,
            "alerts": alerts,
            "managed_by": managed_by,
            "if_version": if_version,
        }
        answer: types.Rule = await self._call("UpdateRule", request, timeout, idempotency_key)
        return answer

    async def pause_rule(
        self,
        *,
        rule_id: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.Rule:
        """Pause a rule.

        Removes the rule from its platforms, and keeps the rule and its matches. A paused rule
        still counts towards the plan. Pausing a paused rule succeeds and changes nothing; if
        a budget paused it, it no longer resumes automatically.

        Args:
            rule_id: Id of the rule.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "rule_id": rule_id,
        }
        answer: types.Rule = await self._call("PauseRule", request, timeout, idempotency_key)
        return answer

    async def resume_rule(
        self,
        *,
        rule_id: str,
        accept_estimate: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.Rule:
        """Resume a paused rule.

        Registers the rule on all its platforms again, or fails and leaves it paused. A rule
        that was paused for a budget is not resumed before the next period: give it a larger
        one with UpdateRule.

        Args:
            rule_id: Id of the rule.
            accept_estimate: Continue although the estimated cost is above the budget of the
                rule, the key or the account.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "rule_id": rule_id,
            "accept_estimate": accept_estimate,
        }
        answer: types.Rule = await self._call("ResumeRule", request, timeout, idempotency_key)
        return answer

    async def delete_rule(
        self,
        *,
        rule_id: str,
        if_version: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.DeleteRuleAnswer:
        """Delete a rule.

        Deletes the rule. Its matches are no longer listed, and it is removed from the
        platforms within seconds.

        Args:
            rule_id: Id of the rule to delete.
            if_version: Only if the rule still has this version; otherwise
                `failed_precondition`, and nothing is done.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "rule_id": rule_id,
            "if_version": if_version,
        }
        answer: types.DeleteRuleAnswer = await self._call("DeleteRule", request, timeout, idempotency_key)
        return answer

    async def preview_rule(
        self,
        *,
        overrides: types.Overrides,
        platforms: Sequence[Literal["x", "firehose", "bluesky"]] | None = None,
        options: types.Options | None = None,
        rule_id: str | None = None,
        days: int | None = None,
        timeout: float | None = None,
    ) -> types.PreviewRuleAnswer:
        """Preview a rule.

        Shows what a query would match: how many matches a day and their cost, which stored
        items of the account it matches, and how it differs from an existing rule. Nothing is
        created. Errors in a query are refused as CreateRule does; suspicious findings are in
        `warnings`.

        Args:
            overrides: One query for each listed platform.
            platforms: Platforms of the rule. Default: the platforms that `overrides` names.
            options: Platform options besides the query. Options that you leave out have the
                platform's default.
            rule_id: A rule to compare the draft with.
            days: How many days of stored items to evaluate; at most the retention of matches.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "overrides": overrides,
            "platforms": platforms,
            "options": options,
            "rule_id": rule_id,
            "days": days,
        }
        answer: types.PreviewRuleAnswer = await self._call("PreviewRule", request, timeout)
        return answer

    async def list_matches(
        self,
        *,
        rule_id: str | None = None,
        platform: Literal["x", "firehose", "bluesky"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["newest", "oldest"] | None = None,
        query: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        relevance: Literal["all", "not_irrelevant", "relevant"] | None = None,
        group: Literal["story"] | None = None,
        story_id: str | None = None,
        hidden: Literal["exclude", "include", "only"] | None = None,
        wait_seconds: int | None = None,
        timeout: float | None = None,
    ) -> types.ListMatchesAnswer:
        """List matches.

        Lists stored matches. To follow new matches, send `order: "oldest"`, keep
        `next_cursor` and send it with the next request. The answers then also list removals.

        Args:
            rule_id: Only matches of this rule.
            platform: Only matches on this platform.
            limit: Number of matches to return; fewer when they are large: an answer ends at
                about 1 MiB.
            cursor: `next_cursor` of the previous answer.
            order: Which end to start from.
            query: Only matches whose text, title, address or author contains all of these
                words, in upper or lower case. One request searches up to 5,000 matches, so a
                page may be empty although `next_cursor` continues. Only with `order:
                "newest"`.
            from_: Only matches created at or after this time.
            to: Only matches created before this time.
            relevance: Default `all`. `not_irrelevant` leaves out matches that are
                `not_relevant` by label or judge, `relevant` also those that are `unsure`.
                Matches without a verdict are never left out.
            group: Lists each story once and counts its other matches in `hidden.in_story`.
                With the newest first, a story is its newest match; otherwise its first, and
                again when it has grown to 10, 100, 1,000 and 10,000 matches.
            story_id: Only matches of this story, each with the reason why it is in it.
            hidden: Matches that a mute or `relevance` hides: leave them out and count them
                (the default), list them too, or list only them.
            wait_seconds: Waits up to this long for something newer than the cursor. Only with
                `order: "oldest"`.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "rule_id": rule_id,
            "platform": platform,
            "limit": limit,
            "cursor": cursor,
            "order": order,
            "query": query,
            "from": from_,
            "to": to,
            "relevance": relevance,
            "group": group,
            "story_id": story_id,
            "hidden": hidden,
            "wait_seconds": wait_seconds,
        }
        answer: types.ListMatchesAnswer = await self._call("ListMatches", request, timeout)
        return answer

    async def get_match(
        self,
        *,
        match_id: str,
        timeout: float | None = None,
    ) -> types.Match:
        """Get a match.

        Returns one stored match. A match that was removed, whose rule was deleted, or that is
        older than the retention period does not exist.

        Args:
            match_id: Id of the match.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "match_id": match_id,
        }
        answer: types.Match = await self._call("GetMatch", request, timeout)
        return answer

    async def count_matches(
        self,
        *,
        from_: str,
        to: str,
        step: int,
        rule_id: str | None = None,
        platform: Literal["x", "firehose", "bluesky"] | None = None,
        by: Literal["rule", "platform"] | None = None,
        timeout: float | None = None,
    ) -> types.CountMatchesAnswer:
        """Count matches.

        Counts stored matches by the time at which they were created, in steps of equal
        length: what `POST /matches` lists between the same `from` and `to`, with the hidden
        ones. Earshot refuses to count more than 1,000,000 matches, or for too long: request a
        shorter time or one rule.

        Args:
            from_: Where the first step begins.
            to: Where the last step ends; it can be shorter than the others.
            step: Seconds. At most 500 steps fit between `from` and `to`.
            rule_id: Only matches of this rule.
            platform: Only matches on this platform.
            by: One series per rule or platform that has matches. Default: one for all.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "from": from_,
            "to": to,
            "step": step,
            "rule_id": rule_id,
            "platform": platform,
            "by": by,
        }
        answer: types.CountMatchesAnswer = await self._call("CountMatches", request, timeout)
        return answer

    async def label_matches(
        self,
        *,
        match_ids: Sequence[str],
        label: Literal["relevant", "not_relevant"] | None,
        note: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.LabelMatchesAnswer:
        """Label matches.

        Says whether matches are relevant to the intent of their rule. A match has one label;
        a new one replaces it. Labels stay when the rule changes, and are deleted with the
        rule or the item.

        Args:
            match_ids: At most 100 matches of the account.
            label: Null removes the label.
            note: Why, for people and for the judge.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "match_ids": match_ids,
            "label": label,
            "note": note,
        }
        answer: types.LabelMatchesAnswer = await self._call("LabelMatches", request, timeout, idempotency_key)
        return answer

    async def list_labels(
        self,
        *,
        rule_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.ListLabelsAnswer:
        """List labels.

        Lists the labels of the account, by match, the newest match first.

        Args:
            rule_id: Only matches of this rule.
            limit: Entries per page.
            cursor: `next_cursor` of the previous page.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "rule_id": rule_id,
            "limit": limit,
            "cursor": cursor,
        }
        answer: types.ListLabelsAnswer = await self._call("ListLabels", request, timeout)
        return answer

    async def mute_matches(
        self,
        *,
        rule_id: str | None = None,
        author: str | None = None,
        domain: str | None = None,
        phrase: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.MuteMatchesAnswer:
        """Mute an author, site or phrase.

        Lists, streams, readers and deliveries leave out matching items, past and future, and
        count them. The items are still stored and billed: to save their price, exclude them
        in the query. DeleteMute shows them again.

        Args:
            rule_id: Only matches of this rule.
            author: Author by handle or by id on the platform.
            domain: Site of the item: this domain and its subdomains.
            phrase: Words in this order in the text or title, in upper or lower case.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "rule_id": rule_id,
            "author": author,
            "domain": domain,
            "phrase": phrase,
        }
        answer: types.MuteMatchesAnswer = await self._call("MuteMatches", request, timeout, idempotency_key)
        return answer

    async def list_mutes(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.ListMutesAnswer:
        """List mutes.

        Lists the mutes of the account.

        Args:
            limit: Entries per page.
            cursor: `next_cursor` of the previous page.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "limit": limit,
            "cursor": cursor,
        }
        answer: types.ListMutesAnswer = await self._call("ListMutes", request, timeout)
        return answer

    async def delete_mute(
        self,
        *,
        mute_id: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.DeleteMuteAnswer:
        """Delete a mute.

        The matches that it left out are listed again. Streams and deliveries do not repeat
        them.

        Args:
            mute_id: Id of the mute.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "mute_id": mute_id,
        }
        answer: types.DeleteMuteAnswer = await self._call("DeleteMute", request, timeout, idempotency_key)
        return answer

    async def get_relevance(
        self,
        *,
        rule_id: str,
        timeout: float | None = None,
    ) -> types.GetRelevanceAnswer:
        """Get the relevance of a rule.

        How well the matches of a rule fit its intent, and how much the judge wrongly rejects,
        estimated from your labels. Each share has its 95% interval (Wilson).

        Args:
            rule_id: Id of the rule.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "rule_id": rule_id,
        }
        answer: types.GetRelevanceAnswer = await self._call("GetRelevance", request, timeout)
        return answer

    async def get_coverage(
        self,
        *,
        rule_id: str | None = None,
        platform: Literal["x", "firehose", "bluesky"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        planned_ends: bool | None = None,
        timeout: float | None = None,
    ) -> types.GetCoverageAnswer:
        """Get coverage.

        Returns the periods in which Earshot received a rule or a platform, the gaps, and
        their repairs. With it, you can distinguish a quiet period from an outage.

        Args:
            rule_id: Only the coverage of this rule.
            platform: Only this platform.
            from_: Start of the window. Default: a day before its end.
            to: End of the window. Default: now.
            planned_ends: Also show planned interruptions by a platform that were replayed
                completely. By default they count as live.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "rule_id": rule_id,
            "platform": platform,
            "from": from_,
            "to": to,
            "planned_ends": planned_ends,
        }
        answer: types.GetCoverageAnswer = await self._call("GetCoverage", request, timeout)
        return answer

    async def get_usage(
        self,
        *,
        rule_id: str | None = None,
        platform: Literal["x", "firehose", "bluesky"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        by: Literal["day", "rule"] | None = None,
        timeout: float | None = None,
    ) -> types.GetUsageAnswer:
        """Get usage.

        Returns how much your rules matched and its cost, per UTC day or per rule. It depends
        only on your own matches. Deleted rules are included.

        Args:
            rule_id: Only this rule.
            platform: Only this platform.
            from_: Start of the window: the UTC day of this time. Default: 29 days before its
                end.
            to: End of the window: the UTC day of this time, included. Default: today.
            by: One entry per day or rule, and platform. Default: one per platform.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "rule_id": rule_id,
            "platform": platform,
            "from": from_,
            "to": to,
            "by": by,
        }
        answer: types.GetUsageAnswer = await self._call("GetUsage", request, timeout)
        return answer

    async def list_sources(
        self,
        *,
        timeout: float | None = None,
    ) -> types.ListSourcesAnswer:
        """List sources.

        Lists each connection to a platform: whether it receives, since when, and what to do
        if it does not.

        Args:
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {}
        answer: types.ListSourcesAnswer = await self._call("ListSources", request, timeout)
        return answer

    async def read_matches(
        self,
        *,
        reader: str,
        of: Literal["matches", "notices"] | None = None,
        rule_id: str | None = None,
        platform: Literal["x", "firehose", "bluesky"] | None = None,
        relevance: Literal["all", "not_irrelevant", "relevant"] | None = None,
        group: Literal["story"] | None = None,
        start: Literal["oldest", "now"] | None = None,
        limit: int | None = None,
        wait_seconds: int | None = None,
        timeout: float | None = None,
    ) -> types.ReadMatchesAnswer:
        """Read matches with a named reader.

        Returns what this reader has not acknowledged yet, and returns it again until
        `AckMatches` moves it. A reader is made at its first use; its filter is then part of
        it and need not be sent again.

        Args:
            reader: Name of the reader, chosen by you.
            of: What it reads, sent each time. A reader of notices reads all of them.
            rule_id: At the first use: only matches of this rule.
            platform: At the first use: only matches on this platform.
            relevance: At the first use: what to leave out, as in ListMatches. Default: `all`.
            group: At the first use: lists stories, as in ListMatches.
            start: At the first use: start with new matches, or with the oldest stored match.
            limit: Number of matches to return; fewer when they are large: an answer ends at
                about 1 MiB.
            wait_seconds: Waits up to this long for a match.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "reader": reader,
            "of": of,
            "rule_id": rule_id,
            "platform": platform,
            "relevance": relevance,
            "group": group,
            "start": start,
            "limit": limit,
            "wait_seconds": wait_seconds,
        }
        answer: types.ReadMatchesAnswer = await self._call("ReadMatches", request, timeout)
        return answer

    async def ack_matches(
        self,
        *,
        reader: str,
        cursor: str,
        rewind: bool | None = None,
        timeout: float | None = None,
    ) -> types.AckMatchesAnswer:
        """Acknowledge matches.

        Moves a named reader past the matches that came with the cursor. Repeating the call
        changes nothing.

        Args:
            reader: Name of the reader, chosen by you.
            cursor: `cursor` of an answer of `ReadMatches`.
            rewind: Allow moving back, to read acknowledged matches again; needs the scope
                `readers:write`. Otherwise an older cursor changes nothing.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "reader": reader,
            "cursor": cursor,
            "rewind": rewind,
        }
        answer: types.AckMatchesAnswer = await self._call("AckMatches", request, timeout)
        return answer

    async def list_readers(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.ListReadersAnswer:
        """List named readers.

        Lists the named readers of the account.

        Args:
            limit: Entries per page.
            cursor: `next_cursor` of the previous page.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "limit": limit,
            "cursor": cursor,
        }
        answer: types.ListReadersAnswer = await self._call("ListReaders", request, timeout)
        return answer

    async def delete_reader(
        self,
        *,
        reader: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.DeleteReaderAnswer:
        """Delete a named reader.

        Deletes the reader and its position. Matches are not affected.

        Args:
            reader: Name of the reader, chosen by you.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "reader": reader,
        }
        answer: types.DeleteReaderAnswer = await self._call("DeleteReader", request, timeout, idempotency_key)
        return answer

    async def list_notices(
        self,
        *,
        open: Literal[True] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["newest", "oldest"] | None = None,
        wait_seconds: int | None = None,
        timeout: float | None = None,
    ) -> types.ListNoticesAnswer:
        """List notices.

        Lists notices. A resolved notice moves to the end of the log, so each is listed once,
        in its current state. To follow them, send `order: "oldest"`, keep `next_cursor` and
        send it with the next request: a notice is listed again when it is resolved.

        Args:
            open: Only those that are not resolved.
            limit: Entries per page.
            cursor: `next_cursor` of the previous answer.
            order: Which end to start from.
            wait_seconds: Waits up to this long for something newer than the cursor. Only with
                `order: "oldest"`.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "open": open,
            "limit": limit,
            "cursor": cursor,
            "order": order,
            "wait_seconds": wait_seconds,
        }
        answer: types.ListNoticesAnswer = await self._call("ListNotices", request, timeout)
        return answer

    async def validate_rule(
        self,
        *,
        overrides: types.Overrides,
        platforms: Sequence[Literal["x", "firehose", "bluesky"]] | None = None,
        intent: str | None = None,
        examples: types.NewRuleExamples | None = None,
        timeout: float | None = None,
    ) -> types.ValidateRuleAnswer:
        """Check a rule without creating it.

        Reports errors in the queries with positions and fixes, and the queries that would be
        registered. Nothing is created.

        Args:
            overrides: One query for each listed platform.
            platforms: Platforms of the rule. Default: the platforms that `overrides` names.
            intent: Returns hints about it. Never an error.
            examples: Example items for the rule. They are checked before anything is
                registered, and again when the value changes; one that fails is a violation.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "overrides": overrides,
            "platforms": platforms,
            "intent": intent,
            "examples": examples,
        }
        answer: types.ValidateRuleAnswer = await self._call("ValidateRule", request, timeout)
        return answer

    async def platform_syntax(
        self,
        *,
        platforms: Sequence[Literal["x", "firehose", "bluesky"]] | None = None,
        timeout: float | None = None,
    ) -> types.PlatformSyntaxAnswer:
        """Get platform syntax.

        Explains how to write queries for each platform. Any valid key may call it.

        Args:
            platforms: Platforms to explain; all by default.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "platforms": platforms,
        }
        answer: types.PlatformSyntaxAnswer = await self._call("PlatformSyntax", request, timeout)
        return answer

    async def create_key(
        self,
        *,
        name: str | None = None,
        scopes: Sequence[Literal["rules:read", "rules:write", "matches:read", "matches:label", "readers:write", "keys:write", "audit:read", "webhooks:read", "webhooks:write"]] | None = None,
        expires_at: str | None = None,
        budget: types.NewBudget | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.CreatedKey:
        """Create a key.

        Creates another key of the account, which cannot do more than the calling key.

        Args:
            name: Name of the key, for people: who or what uses it.
            scopes: What the new key may do: no more than the calling key. Default: the same.
            expires_at: When the new key expires: in the future, and no later than the calling
                key. Default: the same time.
            budget: What all rules created with the new key may spend together. Default: the
                budget of the calling key, counted separately.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "name": name,
            "scopes": scopes,
            "expires_at": expires_at,
            "budget": budget,
        }
        answer: types.CreatedKey = await self._call("CreateKey", request, timeout, idempotency_key)
        return answer

    async def who_am_i(
        self,
        *,
        timeout: float | None = None,
    ) -> types.WhoAmIAnswer:
        """Get the calling key.

        Returns the id and scopes of the key that sends this request. Any valid key may call
        it.

        Args:
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {}
        answer: types.WhoAmIAnswer = await self._call("WhoAmI", request, timeout)
        return answer

    async def list_keys(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.ListKeysAnswer:
        """List keys.

        Lists the valid keys of the account, without the keys themselves.

        Args:
            limit: Entries per page.
            cursor: `next_cursor` of the previous page.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "limit": limit,
            "cursor": cursor,
        }
        answer: types.ListKeysAnswer = await self._call("ListKeys", request, timeout)
        return answer

    async def revoke_key(
        self,
        *,
        key_id: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.RevokeKeyAnswer:
        """Revoke a key.

        Revokes a key of the account: within 5 seconds no node accepts it any more, and its
        open streams end. Keys that were created with it keep working: `ListAudit` names them.

        Args:
            key_id: Id of the key to revoke; your own is allowed.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "key_id": key_id,
        }
        answer: types.RevokeKeyAnswer = await self._call("RevokeKey", request, timeout, idempotency_key)
        return answer

    async def list_audit(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.ListAuditAnswer:
        """List changes.

        Lists the changes of rules, keys, webhooks, digests and readers of the account. Newest
        first.

        Args:
            limit: Entries per page.
            cursor: `next_cursor` of the previous page.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "limit": limit,
            "cursor": cursor,
        }
        answer: types.ListAuditAnswer = await self._call("ListAudit", request, timeout)
        return answer

    async def create_webhook(
        self,
        *,
        name: str,
        url: str,
        format: Literal["standard", "cloudevents", "slack", "discord", "teams"] | None = None,
        window_seconds: int | None = None,
        max_matches: int | None = None,
        rule_ids: Sequence[str] | None | Omitted = OMITTED,
        platform: Literal["x", "firehose", "bluesky"] | None = None,
        relevance: Literal["all", "not_irrelevant", "relevant"] | None = None,
        group: Literal["story"] | None = None,
        events: Sequence[Literal["matches", "notices"]] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.CreatedWebhook:
        """Create a webhook.

        Posts every match from now on to the URL: signed by Standard Webhooks, in order, at
        least once. The secret is shown once. Messages for a chat are not signed, so a chat
        has no secret.

        Args:
            name: A name that no other webhook of the account has.
            url: Where the matches are posted: `https`, port 443 or 8443, on the public
                internet.
            format: `standard`: Standard Webhooks. `cloudevents`: a batch of CloudEvents 1.0,
                signed in the same way. `slack`, `discord`, `teams`: a message for people, to
                the URL of an incoming webhook of the chat.
            window_seconds: Seconds. The endpoint gets at most one message with matches in
                this time, and full messages at once. 1 by default. A chat: 30 or more, 60 by
                default.
            max_matches: The most matches in one message. Not for chats, which show some and
                count the rest. 100 by default.
            rule_ids: Only matches of these rules; null or absent: of every rule.
            platform: Only matches on this platform.
            relevance: Which matches are left out, as in ListMatches. A match waits for its
                verdict for 30 s at the most. `all` by default.
            group: Posts each story once, with its first match, and again when it has grown to
                10, 100, 1,000 and 10,000 matches. Stories that began before the webhook are
                new to it.
            events: What is posted; `matches` by default.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "name": name,
            "url": url,
            "format": format,
            "window_seconds": window_seconds,
            "max_matches": max_matches,
            "rule_ids": rule_ids,
            "platform": platform,
            "relevance": relevance,
            "group": group,
            "events": events,
        }
        answer: types.CreatedWebhook = await self._call("CreateWebhook", request, timeout, idempotency_key)
        return answer

    async def list_webhooks(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.ListWebhooksAnswer:
        """List webhooks.

        Lists the webhooks of the account with their delivery state, without their secrets.

        Args:
            limit: Entries per page.
            cursor: `next_cursor` of the previous page.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "limit": limit,
            "cursor": cursor,
        }
        answer: types.ListWebhooksAnswer = await self._call("ListWebhooks", request, timeout)
        return answer

    async def update_webhook(
        self,
        *,
        webhook_id: str,
        name: str | None = None,
        url: str | None = None,
        format: Literal["standard", "cloudevents", "slack", "discord", "teams"] | None = None,
        window_seconds: int | None = None,
        max_matches: int | None = None,
        rule_ids: Sequence[str] | None | Omitted = OMITTED,
        platform: Literal["x", "firehose", "bluesky"] | None | Omitted = OMITTED,
        relevance: Literal["all", "not_irrelevant", "relevant"] | None = None,
        group: Literal["story"] | None | Omitted = OMITTED,
        events: Sequence[Literal["matches", "notices"]] | None = None,
        state: Literal["active", "paused"] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.Webhook:
        """Change, pause or enable a webhook.

        Changes the fields that are named. A paused or disabled webhook continues where it
        stopped. If you send `state: "active"`, a failing webhook is tried at once.

        Args:
            webhook_id: Id of the webhook.
            name: A name that no other webhook of the account has.
            url: Where the matches are posted: `https`, port 443 or 8443, on the public
                internet.
            format: A new format. To change from a chat format to `standard` or `cloudevents`,
                also send a `url`, then rotate the secret to get one.
            window_seconds: Seconds. The endpoint gets at most one message with matches in
                this time, and full messages at once.
            max_matches: The most matches in one message. Not for chats, which show some and
                count the rest.
            rule_ids: Only matches of these rules; null: of every rule. Matches of an added
                rule are posted from now on, or from where the webhook stopped if it has not
                sent everything.
            platform: Only this platform; null: every platform.
            relevance: Which matches are left out, as in ListMatches. A match waits for its
                verdict for 30 s at the most.
            group: Posts each story once, with its first match, and again when it has grown to
                10, 100, 1,000 and 10,000 matches. Stories that began before the webhook are
                new to it.
            events: Which events are posted from now on.
            state: `active` also enables a disabled webhook. It continues where it stopped.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "webhook_id": webhook_id,
            "name": name,
            "url": url,
            "format": format,
            "window_seconds": window_seconds,
            "max_matches": max_matches,
            "rule_ids": rule_ids,
            "platform": platform,
            "relevance": relevance,
            "group": group,
            "events": events,
            "state": state,
        }
        answer: types.Webhook = await self._call("UpdateWebhook", request, timeout, idempotency_key)
        return answer

    async def delete_webhook(
        self,
        *,
        webhook_id: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.DeleteWebhookAnswer:
        """Delete a webhook.

        Ends the deliveries. A message that is already being sent may still arrive. A webhook
        that a digest is sent to cannot be deleted.

        Args:
            webhook_id: Id of the webhook.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "webhook_id": webhook_id,
        }
        answer: types.DeleteWebhookAnswer = await self._call("DeleteWebhook", request, timeout, idempotency_key)
        return answer

    async def rotate_webhook_secret(
        self,
        *,
        webhook_id: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.RotateWebhookSecretAnswer:
        """Rotate a webhook secret.

        For 24 hours, messages have the signatures of both secrets. Refused for a chat, whose
        messages are not signed.

        Args:
            webhook_id: Id of the webhook.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "webhook_id": webhook_id,
        }
        answer: types.RotateWebhookSecretAnswer = await self._call("RotateWebhookSecret", request, timeout, idempotency_key)
        return answer

    async def test_webhook(
        self,
        *,
        webhook_id: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.TestWebhookAnswer:
        """Send a test message.

        Posts a test message in the format of the webhook once, now, and returns the answer of
        the endpoint. If the endpoint accepts it, Earshot retries a waiting delivery at once.
        Counts as a change.

        Args:
            webhook_id: Id of the webhook.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "webhook_id": webhook_id,
        }
        answer: types.TestWebhookAnswer = await self._call("TestWebhook", request, timeout, idempotency_key)
        return answer

    async def list_deliveries(
        self,
        *,
        webhook_id: str,
        outcome: Literal["delivered", "failed", "refused", "gone", "not_sent", "parked"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.ListDeliveriesAnswer:
        """List deliveries of a webhook.

        Lists attempts with their outcome, and the matches that were parked. Newest first. Of
        failures in a row with the same answer, the first three and then one in sixty have an
        entry, and `times` counts the others.

        Args:
            webhook_id: Id of the webhook.
            outcome: Only these, such as `parked` for the matches that were left out.
            limit: Entries per page.
            cursor: `next_cursor` of the previous page.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "webhook_id": webhook_id,
            "outcome": outcome,
            "limit": limit,
            "cursor": cursor,
        }
        answer: types.ListDeliveriesAnswer = await self._call("ListDeliveries", request, timeout)
        return answer

    async def replay_webhook(
        self,
        *,
        webhook_id: str,
        from_: str | None = None,
        from_match_id: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.ReplayWebhookAnswer:
        """Send matches again.

        Moves the webhook back to a time or a match. Everything from there on is sent again,
        including parked matches.

        Args:
            webhook_id: Id of the webhook.
            from_: Again from the first match created at or after this time.
            from_match_id: Again from this match on.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "webhook_id": webhook_id,
            "from": from_,
            "from_match_id": from_match_id,
        }
        answer: types.ReplayWebhookAnswer = await self._call("ReplayWebhook", request, timeout, idempotency_key)
        return answer

    async def create_digest(
        self,
        *,
        name: str,
        schedule: types.DigestSchedule,
        recipients: types.DigestRecipients,
        rule_ids: Sequence[str] | None | Omitted = OMITTED,
        platform: Literal["x", "firehose", "bluesky"] | None = None,
        relevance: Literal["all", "not_irrelevant", "relevant"] | None = None,
        group: Literal["story"] | None = None,
        min_matches: int | None = None,
        empty: Literal["skip", "send"] | None = None,
        max_matches: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.Digest:
        """Create a digest.

        Sends the matches from now on, on a schedule, to a webhook or by e-mail. Each match is
        in one digest message.

        Args:
            name: A name that no other digest of the account has.
            schedule: When it is sent: by `cron`, or every `window_seconds`.
            recipients: Where it is sent: to a webhook, or by e-mail.
            rule_ids: Only matches of these rules; null or absent: of every rule.
            platform: Only matches on this platform.
            relevance: Which matches are not shown, as in ListMatches. They are counted. `all`
                by default.
            group: Shows each story once, stories with the most matches first, with the number
                of their matches per platform. All of its matches are counted.
            min_matches: The digest is sent only if at least this many matches are waiting;
                fewer wait for the next time. Default: 1.
            empty: What to do if nothing has matched: `skip` (the default) sends nothing.
            max_matches: How many matches the message shows, newest first; it counts all of
                them. Default: 50.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "name": name,
            "schedule": schedule,
            "recipients": recipients,
            "rule_ids": rule_ids,
            "platform": platform,
            "relevance": relevance,
            "group": group,
            "min_matches": min_matches,
            "empty": empty,
            "max_matches": max_matches,
        }
        answer: types.Digest = await self._call("CreateDigest", request, timeout, idempotency_key)
        return answer

    async def list_digests(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.ListDigestsAnswer:
        """List digests.

        Lists the digests of the account, when each is due next, and why the latest message
        was not sent.

        Args:
            limit: Entries per page.
            cursor: `next_cursor` of the previous page.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "limit": limit,
            "cursor": cursor,
        }
        answer: types.ListDigestsAnswer = await self._call("ListDigests", request, timeout)
        return answer

    async def update_digest(
        self,
        *,
        digest_id: str,
        name: str | None = None,
        rule_ids: Sequence[str] | None | Omitted = OMITTED,
        relevance: Literal["all", "not_irrelevant", "relevant"] | None = None,
        group: Literal["story"] | None | Omitted = OMITTED,
        schedule: types.DigestSchedule | None = None,
        recipients: types.DigestRecipients | None = None,
        min_matches: int | None = None,
        empty: Literal["skip", "send"] | None = None,
        max_matches: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.Digest:
        """Change a digest.

        Changes the fields that you send. A digest message that waits to be sent goes to the
        new recipient.

        Args:
            digest_id: Id of the digest.
            name: A name that no other digest of the account has.
            rule_ids: Only matches of these rules; null: of every rule. Applies to every
                digest message that is not sent yet.
            relevance: Which matches are not shown, as in ListMatches. They are counted.
            group: Shows each story once, stories with the most matches first, with the number
                of their matches per platform. All of its matches are counted.
            schedule: When it is sent: by `cron`, or every `window_seconds`.
            recipients: Where it is sent: to a webhook, or by e-mail.
            min_matches: The digest is sent only if at least this many matches are waiting;
                fewer wait for the next time. Default: 1.
            empty: What to do if nothing has matched: `skip` (the default) sends nothing.
            max_matches: How many matches the message shows, newest first; it counts all of
                them. Default: 50.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "digest_id": digest_id,
            "name": name,
            "rule_ids": rule_ids,
            "relevance": relevance,
            "group": group,
            "schedule": schedule,
            "recipients": recipients,
            "min_matches": min_matches,
            "empty": empty,
            "max_matches": max_matches,
        }
        answer: types.Digest = await self._call("UpdateDigest", request, timeout, idempotency_key)
        return answer

    async def delete_digest(
        self,
        *,
        digest_id: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.DeleteDigestAnswer:
        """Delete a digest.

        Deletes the digest. A waiting digest message is discarded; one that is already being
        sent may still arrive. Matches are not affected.

        Args:
            digest_id: Id of the digest.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "digest_id": digest_id,
        }
        answer: types.DeleteDigestAnswer = await self._call("DeleteDigest", request, timeout, idempotency_key)
        return answer

    async def create_feed(
        self,
        *,
        name: str,
        rule_ids: Sequence[str] | None | Omitted = OMITTED,
        platform: Literal["x", "firehose", "bluesky"] | None = None,
        relevance: Literal["all", "not_irrelevant", "relevant"] | None = None,
        query: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.CreateFeedAnswer:
        """Create a feed.

        Creates two secret URLs of the newest matches for feed readers, as Atom and as JSON
        Feed. The calling key also needs `matches:read`. The URLs expire with it.

        Args:
            name: Title of the feed, which no other feed of the account has.
            rule_ids: Only matches of these rules; null or absent: of every rule.
            platform: Only matches on this platform.
            relevance: Which matches are left out, as in ListMatches. A match is shown until
                it has a verdict. `all` by default.
            query: Only items that contain all these words in text, title, author or URL.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "name": name,
            "rule_ids": rule_ids,
            "platform": platform,
            "relevance": relevance,
            "query": query,
        }
        answer: types.CreateFeedAnswer = await self._call("CreateFeed", request, timeout, idempotency_key)
        return answer

    async def list_feeds(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.ListFeedsAnswer:
        """List feeds.

        Lists the feeds of the account, without their URLs.

        Args:
            limit: Entries per page.
            cursor: `next_cursor` of the previous page.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "limit": limit,
            "cursor": cursor,
        }
        answer: types.ListFeedsAnswer = await self._call("ListFeeds", request, timeout)
        return answer

    async def delete_feed(
        self,
        *,
        feed_id: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.DeleteFeedAnswer:
        """Delete a feed.

        Revokes the URLs of the feed at once, on every node.

        Args:
            feed_id: Id of the feed.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "feed_id": feed_id,
        }
        answer: types.DeleteFeedAnswer = await self._call("DeleteFeed", request, timeout, idempotency_key)
        return answer

    async def create_archive(
        self,
        *,
        name: str,
        endpoint: str,
        region: str,
        bucket: str,
        prefix: str,
        access_key_id: str,
        secret_access_key: str,
        format: Literal["ndjson.gz", "parquet"] | None = None,
        rule_ids: Sequence[str] | None | Omitted = OMITTED,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.Archive:
        """Create an archive.

        Writes every match from now on to a bucket of an S3-compatible storage, once an hour.
        Within seconds, Earshot writes the manifest of the day, which shows whether the key
        works.

        Args:
            name: A name that no other archive of the account has.
            endpoint: Address of the storage, such as `https://s3.eu-central-1.amazonaws.com`:
                `https`, port 443 or 8443, on the public internet.
            region: Region of the bucket.
            bucket: Name of the bucket.
            prefix: The names of all objects begin with it, without a slash at the end.
            access_key_id: Id of the access key.
            secret_access_key: The secret of the access key. Earshot stores it encrypted, and
                never shows it.
            format: Format of the objects: compressed NDJSON, or Parquet.
            rule_ids: Only matches of these rules; null or absent: of every rule.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "name": name,
            "endpoint": endpoint,
            "region": region,
            "bucket": bucket,
            "prefix": prefix,
            "access_key_id": access_key_id,
            "secret_access_key": secret_access_key,
            "format": format,
            "rule_ids": rule_ids,
        }
        answer: types.Archive = await self._call("CreateArchive", request, timeout, idempotency_key)
        return answer

    async def list_archives(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.ListArchivesAnswer:
        """List archives.

        Lists the archives of the account with their state, without their secrets.

        Args:
            limit: Entries per page.
            cursor: `next_cursor` of the previous page.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "limit": limit,
            "cursor": cursor,
        }
        answer: types.ListArchivesAnswer = await self._call("ListArchives", request, timeout)
        return answer

    async def delete_archive(
        self,
        *,
        archive_id: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.DeleteArchiveAnswer:
        """Delete an archive.

        Ends the writing. The objects in the bucket stay.

        Args:
            archive_id: Id of the archive.
            idempotency_key: Your own key, so that several runs of your program make the
                change only once.
            timeout: Seconds for all attempts together.
        """
        request: dict[str, object] = {
            "archive_id": archive_id,
        }
        answer: types.DeleteArchiveAnswer = await self._call("DeleteArchive", request, timeout, idempotency_key)
        return answer
