import type { ParsedRules } from '../language/explain-match.ts';
import type { Traces } from '../observability/traces.ts';
import { countHidden, type HiddenEntry } from '../readers/hidden-matches.ts';
import type { MatchReader, StoredMatch, StoredRemoval } from '../readers/match-reader.sql.ts';
import type { createNextPages } from '../readers/next-pages.sql.ts';
import { type LogEntry, toLog } from '../readers/to-match.ts';
import type { Views } from '../readers/views.ts';
import { createTurns } from '../runtime/concurrency.ts';
import type { StoryRange } from '../stories/story-reader.sql.ts';
import type { DeliveryStore } from './delivery-store.sql.ts';
import { batchMatchesMax } from './endpoint-state.ts';
import { type ChatBatch, chatItemOf, chatItemsMax } from './formats/chat-content.ts';
import type { DeliveredMatch, LeasedWebhook, WebhookBatch } from './leased-webhook.ts';
import { createBatchBody, messageIdOf } from './message.ts';

export interface BuildOptions {
  readonly reader: Pick<MatchReader, 'positions'>;
  readonly nextPage: ReturnType<typeof createNextPages>;
  readonly parsedRules: ParsedRules;
  readonly store: Pick<DeliveryStore, 'ruleNames'>;
  readonly views: Pick<Views, 'view' | 'hides'>;
  readonly traces?: Traces | null;
}

export interface BuiltBatch {
  readonly batch: WebhookBatch;
  readonly positions: readonly number[];
  readonly matches: readonly DeliveredMatch[];
  /** When the oldest of the matches was stored. */
  readonly storedMs: number;
}

/** Nothing can be sent. */
export interface NothingToSend {
  /** Everything up to here is not for the webhook. */
  readonly through: number;
  /** What follows waits for a verdict. */
  readonly isWaiting: boolean;
}

export type Built = { readonly built: BuiltBatch } | NothingToSend;

/** Builds a batch for a program: as many matches as fit. */
export async function buildBatch(options: BuildOptions, leased: LeasedWebhook): Promise<Built> {
  const body = createBatchBody(leased.webhookId);
  const most = Math.min(leased.state.batchMax, leased.maxMatches);
  const nextTurn = createTurns();
  const entries: Entry[] = [];
  const source = openEntries(options, leased);
  for await (const entry of source.entries()) {
    await nextTurn();
    const { shown } = entry;
    if (!('match' in shown ? body.add(shown.match) : body.addRemoval(shown.removal))) break;
    if (entries.push(entry) === most) break;
  }
  if (entries.length === 0) return source.nothing();
  const positions = entries.map(({ shown }) => shown.position);
  return {
    built: built(options, leased, { entries, positions, body: body.text(source.hiddenBefore(positions)) }),
  };
}

/** Maximum number of matches that one chat message counts; the rest follows a window later. */
const countedMax = 10_000;

/**
 * Builds a batch for a chat: all waiting matches. The first ones are shown and the others counted, so that a busy
 * rule does not flood the chat. While a refused batch is being split, it is as small as for a program.
 */
export async function buildChatBatch(options: BuildOptions, leased: LeasedWebhook): Promise<Built> {
  const { accountId, ruleIds, platform, relevance, webhookId, state } = leased;
  const most = state.batchMax < batchMatchesMax ? state.batchMax : countedMax;
  const hides = leased.storiesFrom !== null || (await options.views.hides(accountId, relevance));
  const entries: Entry[] = [];
  const counted: Entry[] = [];
  let removals = 0;
  const source = openEntries(options, leased);
  for await (const entry of source.entries()) {
    const isMatch = 'match' in entry.shown;
    const isFull = entries.length - removals === chatItemsMax;
    if (isMatch && isFull && !hides) break;
    // Positions do not show what is hidden, so these are read to be counted.
    if (isFull) counted.push(entry);
    else entries.push(entry);
    if (!isMatch && !isFull) removals += 1;
    if (entries.length + counted.length === most) break;
  }
  const from = entries.at(-1)?.shown.position;
  if (from === undefined) return source.nothing();
  const filter = { accountId, ruleIds, platform, since: null, until: null };
  const limit = hides ? 0 : most - entries.length;
  const rest =
    limit === 0
      ? counted.map(({ shown }) => ({ position: shown.position, isRemoval: 'removal' in shown }))
      : await options.reader.positions({ ...filter, order: 'oldest', from, limit });
  const shown = entries.flatMap((entry) => ('match' in entry.shown ? [entry.shown.match] : []));
  const names = await options.store.ruleNames([...new Set(shown.map((match) => match.rule_id))]);
  const positions = [
    ...entries.map((entry) => entry.shown.position),
    ...rest.map(({ position }) => position),
  ];
  const hidden = source.hiddenBefore(positions);
  const body: ChatBatch = {
    type: 'matches',
    webhook_id: webhookId,
    matches: shown.map((match) => chatItemOf(match, names.get(match.rule_id) ?? '')),
    more: rest.filter(({ isRemoval }) => !isRemoval).length,
    removals: removals + rest.filter(({ isRemoval }) => isRemoval).length,
    ...(hidden && { hidden }),
  };
  return { built: built(options, leased, { entries, positions, body: JSON.stringify(body) }) };
}

interface BatchParts {
  readonly entries: readonly Entry[];
  readonly positions: readonly number[];
  readonly body: string;
}

function built(
  { traces }: BuildOptions,
  { webhookId, epoch }: LeasedWebhook,
  { entries, positions, body }: BatchParts,
): BuiltBatch {
  const range = { firstPosition: positions[0] ?? 0, lastPosition: positions.at(-1) ?? 0 };
  const messageId = messageIdOf({ webhookId, epoch, ...range, body });
  const times = entries.map(({ stored }) => ('payload' in stored ? stored.createdAt : stored.at).getTime());
  return {
    batch: { ...range, messageId, matchCount: positions.length, attempts: 0, body },
    positions,
    matches: traces
      ? entries.flatMap(({ stored }) => ('payload' in stored ? [withoutContent(stored)] : []))
      : [],
    storedMs: Math.min(...times),
  };
}

const withoutContent = ({ position, ruleId, platform, eventKey }: StoredMatch): DeliveredMatch => ({
  position,
  ruleId,
  platform,
  eventKey,
});

/** An entry of the log, as it is stored and as the webhook gets it. */
interface Entry {
  readonly stored: StoredMatch | StoredRemoval;
  readonly shown: LogEntry;
}

function storiesOf({ ruleIds, platform, storiesFrom }: LeasedWebhook): StoryRange | null {
  if (storiesFrom === null) return null;
  const bounds = { after: storiesFrom, through: Number.MAX_SAFE_INTEGER };
  return { ruleIds, platform, since: null, until: null, order: 'oldest', ...bounds };
}

/** One lease reads no more entries than these, however few of them are shown. */
const readMax = 5_000;

/** What the webhook gets, in log order, and what it does not get. */
function openEntries({ nextPage, parsedRules, views }: BuildOptions, leased: LeasedWebhook) {
  const { accountId, ruleIds, platform, relevance, state } = leased;
  const view = { relevance, hidden: 'exclude', waits: true, stories: storiesOf(leased) } as const;
  const hiddenAt: HiddenEntry[] = [];
  let through = state.suspects.at(-1) ?? state.position;
  let isWaiting = false;
  async function* entries(): AsyncGenerator<Entry> {
    for (let read = 0; read < readMax; ) {
      const page = await nextPage({ accountId, ruleIds, platform, from: through, limit: state.batchMax });
      const log = await toLog(parsedRules, page);
      read += log.length;
      const seen = await views.view(accountId, log, { view, marks: relevance !== 'all' });
      hiddenAt.push(...seen.hiddenAt);
      const storedAt = new Map([...page.matches, ...page.removals].map((one) => [one.position, one]));
      for (const shown of seen.entries) {
        const one = storedAt.get(shown.position);
        if (one) yield { stored: one, shown };
      }
      through = seen.through ?? through;
      isWaiting = seen.waitsUntil !== null;
      if (isWaiting) return;
      if (page.more) continue;
      through = Math.max(through, leased.logEnd);
      return;
    }
  }
  return {
    entries,
    nothing: (): NothingToSend => ({ through, isWaiting }),
    /** How many were left out before the last of these positions; undefined if none were. */
    hiddenBefore(positions: readonly number[]) {
      const last = positions.at(-1) ?? 0;
      const before = hiddenAt.filter(({ position }) => position < last);
      return before.length > 0 ? countHidden(before) : undefined;
    },
  };
}
