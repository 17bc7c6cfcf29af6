import type { Platform } from '@earshot/contract';
import type { State } from '@earshot/query';
import { createConcurrencyLimit, createConcurrencyLimits } from '../runtime/concurrency.ts';
import { Failure } from '../runtime/failure.ts';
import { createQuestionThread, type QuestionThread } from './question-thread.ts';

/** What the thread is asked: what each of the values says of each item. */
export interface ItemsQuestion {
  readonly platform: Platform;
  /** As they are registered. */
  readonly values: readonly string[];
  /** JSON as it is stored: the thread parses it. */
  readonly payloads: readonly string[];
  readonly forMs: number;
}

/** Of each value, in their order. */
export type ItemVerdict = readonly State[];

/** As many of the first items as there was time for; null when not even that could be told. */
export type JudgeItems = QuestionThread<ItemsQuestion, ItemVerdict[]>;

const atOnceMax = 2;
const waitingMax = 8;
const memoryMaxMb = 256;

const idle: JudgeItems[] = Array.from({ length: atOnceMax }, () =>
  createQuestionThread(new URL('./items-thread.ts', import.meta.url), memoryMaxMb),
);
const inTurn = createConcurrencyLimit(atOnceMax);
const inTurnOfAccount = createConcurrencyLimits(1);
let waiting = 0;

/**
 * Work that evaluates many items of an account: in a thread of its own, one piece of work of an account and few of all at a
 * time. Who comes when many wait already is refused, instead of waiting for longer than a caller would.
 */
export async function withItemJudge<Result>(
  accountId: string,
  work: (judge: JudgeItems) => Promise<Result>,
): Promise<Result> {
  return await inTurnOfAccount(accountId, async () => {
    if (waiting >= waitingMax)
      throw new Failure('unavailable', 'Too many previews are running. Try again in 3 s.', {
        details: { reason: 'overloaded' },
        retryAfterSeconds: 3,
      });
    waiting += 1;
    return await inTurn(async () => {
      waiting -= 1;
      const thread = idle.pop();
      if (!thread) throw new Error('there are fewer threads than pieces of work');
      try {
        return await work(thread);
      } finally {
        idle.push(thread);
      }
    });
  });
}
