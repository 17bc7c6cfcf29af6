import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatKey } from '@earshot/contract';
import { createApi } from './api.ts';

/**
 * One key that does everything that was found to harm others, in a process of its own:
 *   node abuse.ts <url> <key> <seconds>
 * Prints how often each kind of request got which status.
 */
// Elsewhere it would have a machine of its own: what reading the answers costs it is not taken from the server.
setPriority(constants.priority.PRIORITY_LOW);

const [url = '', key = '', secondsText = ''] = process.argv.slice(2);
const endsAt = performance.now() + Number(secondsText) * 1000;
const api = createApi(url, key);
const statuses: Record<string, Record<string, number>> = {};

/** As long as a value may be: patterns with exponentially many states, and one of nullable parts. */
const patterns = Array.from({ length: 60 }, (_, index) => `added:/.*a.{${40 + index}}c/`);
const expensive = ['added:w', `added:/${'a?'.repeat(300)}x/`, ...patterns].join(' OR ').slice(0, 3900);
const value = expensive.slice(0, expensive.lastIndexOf(' OR '));
const irregular = Array.from({ length: 700 }, (_, index) => (Math.sin(index * index) > 0 ? 'a' : 'b')).join(
  '',
);
const examples = {
  must_match: Array.from({ length: 18 }, () => ({ platform: 'firehose', payload: { text: irregular } })),
};
const batch = Array.from({ length: 100 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' }));

const kinds: Record<string, { readonly atOnce: number; readonly send: (turn: number) => Promise<number> }> = {
  validate: {
    atOnce: 6,
    send: async () => {
      const body = { platforms: ['firehose'], overrides: { firehose: value }, examples };
      return (await api.call('POST', '/api.ValidateRule', body)).status;
    },
  },
  list: { atOnce: 12, send: async () => (await api.call('POST', '/matches', { limit: 100 })).status },
  batch: {
    atOnce: 2,
    send: async () =>
      (await api.call('POST', '/mcp', batch, { accept: 'application/json, text/event-stream' })).status,
  },
  guess: {
    atOnce: 2,
    send: async (turn) =>
      (await createApi(url, formatKey(`guess${turn}`.padEnd(32, 'x'))).call('GET', '/api.ListRules')).status,
  },
  create: {
    atOnce: 2,
    send: async (turn) => {
      const word = `word${process.pid}x${turn}`;
      const rule = { name: word, intent: 'to use up calls', platforms: ['x'], overrides: { x: word } };
      const { status, json } = await api.call('POST', '/api.CreateRule', rule);
      if (status === 200) await api.deleteRule((json as { rule_id: string }).rule_id);
      return status;
    },
  },
};

let turns = 0;
await Promise.all(
  Object.entries(kinds).flatMap(([kind, { atOnce, send }]) =>
    Array.from({ length: atOnce }, async () => {
      // At least once: on a busy machine a process of low priority has sent nothing when the time is over.
      do {
        const status = String(await send((turns += 1)).catch((error: unknown) => String(error)));
        const counts = (statuses[kind] ??= {});
        counts[status] = (counts[status] ?? 0) + 1;
        // A refusal is quick: waiting a little keeps the attacker from being busy with itself.
        if (status !== '200') await sleep(20);
      } while (performance.now() < endsAt);
    }),
  ),
);
console.log(JSON.stringify(statuses));
