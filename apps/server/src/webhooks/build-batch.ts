import type { ParsedRules } from '../language/explain-match.ts';
import type { Traces } from '../observability/traces.ts';
import type { MatchReader, StoredMatch, StoredRemoval } from '../readers/match-reader.sql.ts';
import { toMatch, toRemoval } from '../readers/to-match.ts';
import { createTurns } from '../runtime/concurrency.ts';
import type { DeliveryStore } from './delivery-store.sql.ts';
import { batchMatchesMax } from './endpoint-state.ts';
import { type ChatBatch, chatItemOf, chatItemsMax } from './formats/chat-content.ts';
import type { DeliveredMatch, LeasedWebhook, WebhookBatch } from './leased-webhook.ts';
import { createBatchBody, messageIdOf } from './message.ts';

export interface BuildOptions {
  readonly reader: MatchReader;
  readonly parsedRules: ParsedRules;
  readonly store: Pick<DeliveryStore, 'ruleNames'>;
  readonly traces?: Traces | null;
}

export interface BuiltBatch {
  readonly batch: WebhookBatch;
  readonly positions: readonly number[];
  readonly matches: readonly DeliveredMatch[];
  /** When the oldest of the matches was stored. */
  readonly storedMs: number;
}

/** Builds a batch for a program: as many matches as fit. Null if there is nothing to send. */
export async function buildBatch(options: BuildOptions, leased: LeasedWebhook): Promise<BuiltBatch | null> {
  const body = createBatchBody(leased.webhookId);
  const nextTurn = createTurns();
  const entries: (StoredMatch | StoredRemoval)[] = [];
  for await (const entry of entriesAfter(options.reader, leased)) {
    await nextTurn();
    const fits =
      'payload' in entry ? body.add(toMatch(options.parsedRules, entry)) : body.addRemoval(toRemoval(entry));
    if (!fits) break;
    if (entries.push(entry) === leased.state.batchMax) break;
  }
  const positions = entries.map(({ position }) => position);
  return built(options, leased, { entries, positions, body: body.text() });
}

/** Maximum number of matches that one chat message counts; the rest follows a window later. */
const countedMax = 10_000;

/**
 * Builds a batch for a chat: all waiting matches. The first ones are shown and the others counted, so that a busy
 * rule does not flood the chat. While a refused batch is being split, it is as small as for a program. Null if there
 * is nothing to send.
 */
export async function buildChatBatch(
  options: BuildOptions,
  leased: LeasedWebhook,
): Promise<BuiltBatch | null> {
  const { accountId, ruleId, platform, webhookId, state } = leased;
  const most = state.batchMax < batchMatchesMax ? state.batchMax : countedMax;
  const entries: (StoredMatch | StoredRemoval)[] = [];
  let removals = 0;
  for await (const entry of entriesAfter(options.reader, leased)) {
    if ('payload' in entry && entries.length - removals === chatItemsMax) break;
    if (!('payload' in entry)) removals += 1;
    if (entries.push(entry) === most) break;
  }
  const from = entries.at(-1)?.position;
  if (from === undefined) return null;
  const filter = { accountId, ruleId, platform, since: null, until: null };
  const limit = most - entries.length;
  const rest = limit === 0 ? [] : await options.reader.positions({ ...filter, order: 'oldest', from, limit });
  const shown = entries.filter((entry) => 'payload' in entry);
  const names = await options.store.ruleNames([...new Set(shown.map((match) => match.ruleId))]);
  const body: ChatBatch = {
    type: 'matches',
    webhook_id: webhookId,
    matches: shown.map((match) =>
      chatItemOf(toMatch(options.parsedRules, match), names.get(match.ruleId) ?? ''),
    ),
    more: rest.filter(({ isRemoval }) => !isRemoval).length,
    removals: removals + rest.filter(({ isRemoval }) => isRemoval).length,
  };
  const positions = [...entries, ...rest].map(({ position }) => position);
  return built(options, leased, { entries, positions, body: JSON.stringify(body) });
}

interface BatchParts {
  readonly entries: readonly (StoredMatch | StoredRemoval)[];
  readonly positions: readonly number[];
  readonly body: string;
}

function built(
  { traces }: BuildOptions,
  { webhookId, epoch }: LeasedWebhook,
  { entries, positions, body }: BatchParts,
): BuiltBatch | null {
  const [firstPosition] = positions;
  const lastPosition = positions.at(-1);
  if (firstPosition === undefined || lastPosition === undefined) return null;
  const range = { firstPosition, lastPosition };
  const messageId = messageIdOf({ webhookId, epoch, ...range, body });
  const times = entries.map((entry) => ('payload' in entry ? entry.createdAt : entry.at).getTime());
  return {
    batch: { ...range, messageId, matchCount: positions.length, attempts: 0, body },
    positions,
    matches: traces ? entries.flatMap((entry) => ('payload' in entry ? [withoutContent(entry)] : [])) : [],
    storedMs: Math.min(...times),
  };
}

const withoutContent = ({ position, ruleId, platform, eventKey }: StoredMatch): DeliveredMatch => ({
  position,
  ruleId,
  platform,
  eventKey,
});

/** Yields all entries in log order. */
async function* entriesAfter(
  reader: MatchReader,
  leased: LeasedWebhook,
): AsyncGenerator<StoredMatch | StoredRemoval> {
  const { accountId, ruleId, platform, state } = leased;
  let from = state.suspects.at(-1) ?? state.position;
  for (;;) {
    const filter = { accountId, ruleId, platform, since: null, until: null };
    const page = await reader.read({ ...filter, order: 'oldest', from, limit: state.batchMax });
    const entries = [...page.matches, ...page.removals].toSorted(
      (one, other) => one.position - other.position,
    );
    yield* entries;
    if (!page.more) return;
    from = entries.at(-1)?.position ?? from;
  }
}
