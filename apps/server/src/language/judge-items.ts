import type { Platform } from '@earshot/contract';
import type { State } from '@earshot/query';
import { createConcurrencyLimit, createConcurrencyLimits } from '../runtime/concurrency.ts';
import { Failure } from '../runtime/failure.ts';
import { createQuestionThread, type QuestionThread } from './question-thread.ts';

/** A question to the thread: the result of each query for each item. */
export interface ItemsQuestion {
  readonly platform: Platform;
  /** Queries in their canonical form, as they are registered. */
  readonly values: readonly string[];
  /** JSON as it is stored; the thread parses it. */
  readonly payloads: readonly string[];
  readonly forMs: number;
}

/** The result of each query, in the order of the queries. */
export type ItemVerdict = readonly State[];

/** Verdicts on as many of the first items as there was time for; null if there is none. */
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
 * Runs work that evaluates many items of an account, in a separate thread. Each account has one such piece of work at a time, and all
 * accounts together have few. If many wait already, the request is refused: it would wait too long.
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
