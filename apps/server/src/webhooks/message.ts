import { createHash } from 'node:crypto';
import type { Match } from '@earshot/contract';

export const batchBytesMax = 1024 * 1024;
const textLengthKept = 10_000;

/** A match in a message: as in `POST /matches`, unless it had to be cut. */
export type SentMatch = Match & { readonly truncated?: true };

/**
 * The body of a message. It contains nothing that changes from one attempt to the next, such as a time. Matches are
 * added one by one until the next would not fit; the first always fits, if necessary without its raw item.
 */
export function createBatchBody(webhookId: string) {
  const head = `{"type":"matches","webhook_id":${JSON.stringify(webhookId)},"matches":[`;
  const tail = ']}';
  const parts: string[] = [];
  let bytes = Buffer.byteLength(head) + Buffer.byteLength(tail);
  return {
    /** False when there is no room for it. */
    add(match: Match): boolean {
      const room = batchBytesMax - bytes;
      let part = JSON.stringify(match);
      if (Buffer.byteLength(part) > room && parts.length === 0) part = JSON.stringify(cut(match));
      const needed = Buffer.byteLength(part) + 1;
      if (needed > room && parts.length > 0) return false;
      parts.push(part);
      bytes += needed;
      return true;
    },
    text: () => head + parts.join(',') + tail,
  };
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
 * The id of a batch, derived from its webhook, positions and bytes: the same id always means the same message. The epoch
 * is part of it, because a batch that the owner asked to be sent again must not be taken for a repetition.
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
