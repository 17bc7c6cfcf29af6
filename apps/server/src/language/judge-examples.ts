import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Platform, RuleExamples } from '@earshot/contract';
import { type JudgedExample, notDecided } from '@earshot/query';
import { createConcurrencyLimit, createConcurrencyLimits } from '../runtime/concurrency.ts';

/** What the thread is asked. */
export interface ExamplesQuestion {
  readonly overrides: Readonly<Partial<Record<Platform, string | undefined>>>;
  readonly examples: RuleExamples;
  /** Platforms whose value has errors; their examples are left out. */
  readonly invalid: ReadonlySet<Platform> | undefined;
}

const judgingMsMax = 5000;
const memoryMaxMb = 128;

const inTurn = createConcurrencyLimit(1);
const inTurnOfAccount = createConcurrencyLimits(1);
let thread: Promise<Worker> | null = null;

/**
 * Evaluates the examples of a request in a thread of its own with a deadline and a memory limit: both the rule and the
 * examples are the caller's. One question at a time, and only one of each account in the queue. Examples that take too long are
 * undecided.
 */
export async function judgeInWorker(
  accountId: string,
  question: ExamplesQuestion,
  deadlineMs = judgingMsMax,
): Promise<JudgedExample[]> {
  return await inTurnOfAccount(accountId, () => inTurn(() => ask(question, deadlineMs)));
}

async function ask(question: ExamplesQuestion, deadlineMs: number): Promise<JudgedExample[]> {
  const worker = await (thread ??= startThread().catch(forgetThread));
  worker.postMessage(question);
  try {
    // Also fails when the thread ends, for instance because it runs out of memory.
    const [answer] = await once(worker, 'message', { signal: AbortSignal.timeout(deadlineMs) });
    return answer;
  } catch {
    thread = null;
    await worker.terminate();
    return undecided(question);
  }
}

async function startThread(): Promise<Worker> {
  const worker = new Worker(new URL('./examples-thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: memoryMaxMb },
  });
  worker.unref();
  worker.on('error', () => {
    thread = null;
  });
  // Says when it has loaded the languages: the deadline is for the question alone.
  await once(worker, 'message');
  return worker;
}

/** The next question tries again. */
function forgetThread(error: unknown): never {
  thread = null;
  throw error;
}

function undecided({ examples, invalid }: ExamplesQuestion): JudgedExample[] {
  return (['must_match', 'must_not_match'] as const).flatMap((expectation) =>
    examples[expectation].flatMap(({ platform }, index) =>
      invalid?.has(platform) ? [] : [{ expectation, index, platform, ...notDecided }],
    ),
  );
}
