import { openDatabase } from '../../apps/server/src/engines/database.ts';
import type { NewMatch } from '../../apps/server/src/matching/match-events.ts';
import { createMatchStore } from '../../apps/server/src/matching/match-store.sql.ts';
import { xMatch } from '../../apps/server/test/stream-events.ts';
import { median } from '../pipeline/figures.ts';
import { postOf } from '../stored.ts';
import { type Order, withOrder } from './orders.ts';

/** What one process writes, as a message from the one that started it. */
export interface WriterTask {
  readonly url: string;
  readonly order: Order;
  /** Of this process in this database, so that no two of its posts are the same. */
  readonly number: number;
  readonly isAlone: boolean;
  readonly seconds: number;
  readonly matchesPerBatch: number;
  readonly matchesPerPost: number;
  readonly accounts: number;
  readonly rules: number;
}

export interface Wrote {
  readonly matches: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** How long a transaction would have kept others waiting, in the median; of a writer that is alone. */
  readonly turnMs: number;
}

const today = new Date().toISOString().slice(0, 10);

/** The rules that match a post follow each other, from one that its number decides. */
function batchOf(task: WriterTask, batch: number) {
  const { matchesPerBatch, matchesPerPost, accounts, rules } = task;
  const matches: NewMatch[] = [];
  const posts = Array.from({ length: matchesPerBatch / matchesPerPost }, (_, at) => {
    const number = batch * matchesPerBatch + at;
    const key = String(1_000_000_000_000_000_000n + BigInt(task.number) * 1_000_000_000n + BigInt(number));
    const post = postOf(key, today);
    for (let n = 0; n < matchesPerPost; n++) {
      const rule = (number * 7 + n) % rules;
      matches.push(xMatch(post, `rule_${rule}`, `acc_${rule % accounts}`));
    }
    return post;
  });
  return { posts, matches };
}

/** A connection plans its first statements anew. */
const warmUp = 6;

const { promise: mayGo, resolve: go } = Promise.withResolvers<void>();

async function write(task: WriterTask): Promise<Wrote> {
  const { url, order, seconds } = task;
  await using database = openDatabase({ url, connectionsMax: 1, onIdleError: () => undefined });
  const turnsMs: number[] = [];
  const store = createMatchStore(withOrder(database, order, task.isAlone ? (ms) => turnsMs.push(ms) : null));
  const writeBatch = async (batch: number) => {
    const { posts, matches } = batchOf(task, batch);
    const byPost = Map.groupBy(matches, ({ eventKey }) => eventKey);
    const deliveries = posts.map((event) => ({
      event,
      day: today,
      recipients: (byPost.get(event.key) ?? []).map(({ accountId, ruleId }) => ({ accountId, ruleId })),
    }));
    await store.write(posts, matches, [batch + 1], deliveries);
  };
  for (let batch = 0; batch < warmUp; batch++) await writeBatch(batch);
  process.send?.('ready');
  await mayGo;
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
  let batch = warmUp;
  while (performance.now() - startedAt < seconds * 1_000) await writeBatch(batch++);
  const { user, system } = process.cpuUsage(cpu);
  return {
    matches: (batch - warmUp) * task.matchesPerBatch,
    seconds: (performance.now() - startedAt) / 1_000,
    cpuSeconds: (user + system) / 1e6,
    turnMs: task.isAlone ? median(turnsMs.slice(warmUp)) : 0,
  };
}

process.on('message', (message: WriterTask | 'go') => {
  if (message === 'go') return go();
  void write(message).then((wrote) => {
    process.send?.(wrote);
    process.disconnect();
  });
});
