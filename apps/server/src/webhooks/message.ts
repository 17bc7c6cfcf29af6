import { createHash } from 'node:crypto';
import type { HiddenMatches, Match, Notice, Removal } from '@earshot/contract';
import type { ChatBatch } from './formats/chat-content.ts';

export const batchBytesMax = 1024 * 1024;
const textLengthKept = 10_000;

/** A match in a message: as in `POST /matches`, but shortened if it is too large. */
export type SentMatch = Match & { readonly truncated?: true };

/**
 * Builds the body of a message. It has nothing that changes between attempts, such as a time. Entries are added until
 * the next one would not fit; the first always fits, if necessary without its raw item. Removals have a separate
 * field, present only if there are some, so endpoints that do not know it still work.
 */
export function createBatchBody(webhookId: string) {
  const head = `{"type":"matches","webhook_id":${JSON.stringify(webhookId)},"matches":[`;
  const beforeRemovals = '],"removed":[';
  const tail = '],"hidden":{"muted":1000000,"not_relevant":1000000,"in_story":1000000}}';
  const matches: string[] = [];
  const removals: string[] = [];
  let bytes = Buffer.byteLength(head + beforeRemovals + tail);
  const take = (part: string, parts: string[]): boolean => {
    const needed = Buffer.byteLength(part) + 1;
    if (needed > batchBytesMax - bytes && matches.length + removals.length > 0) return false;
    parts.push(part);
    bytes += needed;
    return true;
  };
  return {
    /** Returns false if it does not fit. */
    add(match: Match): boolean {
      const part = JSON.stringify(match);
      const isTooLarge = Buffer.byteLength(part) > batchBytesMax - bytes;
      return take(
        isTooLarge && matches.length + removals.length === 0 ? JSON.stringify(cut(match)) : part,
        matches,
      );
    },
    addRemoval: (removal: Removal) => take(JSON.stringify(removal), removals),
    /** `hidden`: how many matches were left out. */
    text(hidden?: HiddenMatches): string {
      const removed = removals.length > 0 ? beforeRemovals + removals.join(',') : '';
      return `${head}${matches.join(',')}${removed}]${hidden ? `,"hidden":${JSON.stringify(hidden)}` : ''}}`;
    },
  };
}

/** The message of one notice and its id: the same at every attempt, until the notice changes. */
export function noticeMessage(
  webhookId: string,
  { position, notice }: { readonly position: number; readonly notice: Notice },
): { messageId: string; body: string } {
  const body = JSON.stringify({ type: 'notice', webhook_id: webhookId, notice });
  const range = { firstPosition: position, lastPosition: position };
  return { messageId: messageIdOf({ webhookId, epoch: 0, ...range, body }), body };
}

type StoredBody =
  | { readonly matches: readonly SentMatch[]; readonly removed?: readonly Removal[] }
  | ChatBatch;

/**
 * A stored body without these matches; null if nothing is left. Matches that a chat message only counts stay counted.
 */
export function withoutMatches(
  body: string,
  matchIds: ReadonlySet<string>,
): { body: string; count: number } | null {
  const message: StoredBody = JSON.parse(body);
  const matches = message.matches.filter(({ id }) => !matchIds.has(id));
  const others = 'more' in message ? message.more + message.removals : (message.removed?.length ?? 0);
  const count = matches.length + others;
  return count === 0 ? null : { body: JSON.stringify({ ...message, matches }), count };
}

/** The rest is far below the limit, because the event log accepts no item above 400 KiB. */
function cut(match: Match): SentMatch {
  const { payload, why } = match;
  return {
    ...match,
    payload: { ...payload, text: payload.text?.slice(0, textLengthKept).toWellFormed() ?? null, raw: {} },
    why: { ...why, evidence: [], undecided: [] },
    truncated: true,
  };
}

/**
 * The id of a batch, derived from its webhook, positions and bytes. The same id always means the same message, or the
 * rest of it after a removal. It includes the epoch, because a replayed batch must not look like a duplicate.
 */
export function messageIdOf(batch: {
  readonly webhookId: string;
  readonly epoch: number;
  readonly firstPosition: number;
  readonly lastPosition: number;
  readonly body: string;
}): string {
  const { webhookId, epoch, firstPosition, lastPosition, body } = batch;
  const hash = createHash('sha256').update(`${webhookId}\n${epoch}\n${firstPosition}\n${lastPosition}\n`);
  return `msg_${hash.update(body).digest('base64url').slice(0, 22)}`;
}
