import type { Platform, RuleExamples } from '@earshot/contract';
import { type JudgedExample, notDecided } from '@earshot/query';
import { createConcurrencyLimit, createConcurrencyLimits } from '../runtime/concurrency.ts';
import { createQuestionThread } from './question-thread.ts';

/** A question to the thread. */
export interface ExamplesQuestion {
  readonly overrides: Readonly<Partial<Record<Platform, string | undefined>>>;
  readonly examples: RuleExamples;
  /** Platforms whose query has errors; their examples are left out. */
  readonly invalid: ReadonlySet<Platform> | undefined;
}

const judgingMsMax = 5000;
const memoryMaxMb = 128;

const inTurn = createConcurrencyLimit(1);
const inTurnOfAccount = createConcurrencyLimits(1);
const ask = createQuestionThread<ExamplesQuestion, JudgedExample[]>(
  new URL('./examples-thread.ts', import.meta.url),
  memoryMaxMb,
);

/**
 * Evaluates the examples of a request in a separate thread with a deadline and a memory limit: the caller chose both the rule and the
 * examples. The thread answers one question at a time, and the queue has at most one of each account. Examples that take too long are
 * undecided.
 */
export async function judgeInWorker(
  accountId: string,
  question: ExamplesQuestion,
  deadlineMs = judgingMsMax,
): Promise<JudgedExample[]> {
  const judged = await inTurnOfAccount(accountId, () => inTurn(() => ask(question, deadlineMs)));
  return judged ?? undecided(question);
}

function undecided({ examples, invalid }: ExamplesQuestion): JudgedExample[] {
  return (['must_match', 'must_not_match'] as const).flatMap((expectation) =>
    examples[expectation].flatMap(({ platform }, index) =>
      invalid?.has(platform) ? [] : [{ expectation, index, platform, ...notDecided }],
    ),
  );
}
