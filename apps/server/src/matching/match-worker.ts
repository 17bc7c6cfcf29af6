import type { EventSource } from '../event-log/logged-event.ts';
import { type ParsedRules, unexplainedOperators } from '../language/explain-match.ts';
import type { Events } from '../observability/events.ts';
import { createEventLoopYield } from '../runtime/concurrency.ts';
import type { Worker } from '../runtime/worker.ts';
import { type StoreBatchOptions, storeBatch, type Verdict } from './store-batch.ts';

const batchMax = 1_000;

export interface MatchWorkerOptions extends StoreBatchOptions {
  readonly name: string;
  readonly source: EventSource;
  readonly parsedRules: ParsedRules;
}

/**
 * Events to matches: read, resolve, write in one transaction, then acknowledge, then wake the readers. Any
 * number of these may run; what is delivered twice is stored once.
 */
export function createMatchWorker(options: MatchWorkerOptions): Worker {
  return {
    name: options.name,
    async run(signal) {
      for await (const batch of options.source.batches(batchMax, signal)) {
        await countUnexplained(options, await storeBatch(options, batch));
      }
    },
  };
}

/** The upstream's verdict stands (I5); where ours differs, somebody should look at the evaluator. */
async function countUnexplained(
  { parsedRules, events }: { parsedRules: ParsedRules; events: Events },
  verdicts: readonly Verdict[],
): Promise<void> {
  const yieldIfDue = createEventLoopYield();
  for (const { event, value } of verdicts) {
    const { platform, payload, platformPostId } = event;
    const operators = unexplainedOperators(parsedRules, { platform, value, raw: payload.raw });
    for (const operator of operators)
      events.verdictUnexplained({ platform, operator, value, platformPostId });
    await yieldIfDue();
  }
}
