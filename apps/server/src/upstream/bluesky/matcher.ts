import { createPercolator, languages, type Percolator } from '@earshot/query';
import type { LocalRule, LocalRules } from '../local-rules.ts';
import type { Commit } from './commit.ts';

/** Tolerated difference between the clocks of the instance and of the database. */
const clockMarginMs = 10_000;

export interface Matcher extends AsyncDisposable {
  /** When the first rule was registered; null without rules. */
  readonly oldest: Date | null;
  /** Aborted when the last rule is gone. */
  readonly emptied: AbortSignal;
  /** The ids of the rules that the post matches. */
  match(post: Commit, at: Date): string[];
  /** Matches the rules that were added since the last call, which posts of the last moments may have missed; null without any. */
  takeAdded(): Matching | null;
  /** Calls back when rules were added. */
  onAdded(wake: () => void): void;
}

export type Matching = (post: Commit, at: Date) => string[];

/** The rules of a source, matched against posts; follows the changes of the rules until it is disposed. */
export async function openMatcher(local: LocalRules, sourceId: string): Promise<Matcher> {
  const known = new Map<string, LocalRule>();
  const all = createPercolator();
  let added = createPercolator();
  let wake = () => undefined as void;
  const emptied = new AbortController();
  const closed = new AbortController();

  const apply = (rules: readonly LocalRule[]) => {
    const listed = new Map(rules.map((rule) => [rule.id, rule]));
    for (const id of known.keys()) {
      if (listed.has(id)) continue;
      known.delete(id);
      for (const percolator of [all, added]) percolator.delete(id);
    }
    for (const [id, rule] of listed) {
      if (known.has(id)) continue;
      known.set(id, rule);
      const { root } = languages.bluesky.parse(rule.value);
      if (root !== null) for (const percolator of [all, added]) percolator.set(id, root);
    }
  };
  apply(await local.list(sourceId));
  added = createPercolator();
  const following = (async () => {
    for await (const rules of local.changes(sourceId, closed.signal)) {
      apply(rules);
      if (added.size > 0) wake();
      if (known.size === 0) emptied.abort();
    }
  })();
  /** Rules that were registered by then. */
  const matching =
    (percolator: Percolator, marginMs: number): Matching =>
    ({ did, time, rkey, cid, record }, at) =>
      percolator
        .match({ did, time, rkey, cid, record })
        .filter(
          (id) => (known.get(id)?.since.getTime() ?? Number.POSITIVE_INFINITY) <= at.getTime() + marginMs,
        );
  return {
    oldest: [...known.values()].reduce<Date | null>(
      (first, { since }) => (first === null || since < first ? since : first),
      null,
    ),
    emptied: emptied.signal,
    match: matching(all, clockMarginMs),
    takeAdded() {
      if (added.size === 0) return null;
      const taken = added;
      added = createPercolator();
      return matching(taken, 0);
    },
    onAdded(callback) {
      wake = callback;
    },
    async [Symbol.asyncDispose]() {
      closed.abort();
      await following;
    },
  };
}
