import { createHash } from 'node:crypto';
import type { Match, Notice, Removal } from '@earshot/contract';
import type { ChatBatch } from './formats/chat-content.ts';

export const batchBytesMax = 1024 * 1024;
const textLengthKept = 10_000;

/** A match in a message: as in `POST /matches`, unless it had to be cut. */
export type SentMatch = Match & { readonly truncated?: true };

/**
 * The body of a message. It contains nothing that changes from one attempt to the next, such as a time. Matches and removals are
 * added one by one until the next would not fit; the first always fits, if necessary without its raw item. Removals stand in a
 * field of their own, which is there only with them: an endpoint that does not know it takes the matches as before.
 */
export function createBatchBody(webhookId: string) {
  const head = `{"type":"matches","webhook_id":${JSON.stringify(webhookId)},"matches":[`;
  const beforeRemovals = '],"removed":[';
  const tail = ']}';
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
    /** False when there is no room for it. */
    add(match: Match): boolean {
      const part = JSON.stringify(match);
      const isTooLarge = Buffer.byteLength(part) > batchBytesMax - bytes;
      return take(
        isTooLarge && matches.length + removals.length === 0 ? JSON.stringify(cut(match)) : part,
        matches,
      );
    },
    addRemoval: (removal: Removal) => take(JSON.stringify(removal), removals),
    text: () =>
      head + matches.join(',') + (removals.length > 0 ? beforeRemovals + removals.join(',') : '') + tail,
  };
}

/** The message of one notice, with its id: the same at every attempt, until the notice itself changes. */
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
 * A stored body without these matches; null when nothing is left of it. What a message for a chat only counts stays as it was
 * counted.
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

/** What remains is far below the limit: the event log accepts no item above 400 KiB. */
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
 * The id of a batch, derived from its webhook, positions and bytes: the same id always means the same message, or what is left of
 * it when a match in it was removed before it was delivered. The epoch is part of it, because a batch that the owner asked to be sent again must not be taken for a repetition.
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
