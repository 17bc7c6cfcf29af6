import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { operations } from '@earshot/contract';
import { lengthOf } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

const run = promisify(execFile);
const ruleCount = lengthOf({ always: 40_000, nightly: 100_000 });
const growthMaxMib = 64;
/** A server uses about 50 MiB of it, and the list alone would be 100. */
const heapMaxMib = 102;

let world: World;
let server: ServerUnderTest;
let account: Account;

beforeAll(async () => {
  world = await startWorld();
  // Garbage is collected when it must be: on a busy machine a heap without a bound grows by more than the list needs.
  server = await world.startServer({ NODE_OPTIONS: `--max-old-space-size=${heapMaxMib}` });
  account = await world.newAccount();
  const { rule_id } = await server.api(account).createRule({ firehose: 'title:galaxy' });
  await multiply(rule_id);
});
afterAll(() => world?.[Symbol.asyncDispose]());

/** Copies the rule, on the same slot, until the account has `ruleCount` of them. */
async function multiply(ruleId: string) {
  const copies = `(select 'rule_00' || lpad(n::text, 24, '0') as id from generate_series(2, ${ruleCount}) n)`;
  const sql = `
    insert into rules (id, account_id, name, intent, state)
      select copies.id, account_id, name, intent, state from rules, ${copies} copies where rules.id = '${ruleId}';
    insert into rule_versions (rule_id, version, platform, value, translated_value, slot_id)
      select copies.id, version, platform, value, translated_value, slot_id
      from rule_versions, ${copies} copies where rule_id = '${ruleId}';
    insert into slot_holders (slot_id, rule_id, account_id, platform, rule_version, served_since)
      select slot_id, copies.id, account_id, platform, rule_version, served_since
      from slot_holders, ${copies} copies where rule_id = '${ruleId}';
    analyze;`;
  await run('psql', ['--quiet', '--set', 'ON_ERROR_STOP=1', '-c', sql, world.databaseUrl]);
}

test(`${ruleCount} rules are listed completely while the server grows by less than ${growthMaxMib} MiB`, async () => {
  const small = server.api(await world.newAccount());
  for (let times = 0; times < 20; times += 1) await small.listRules();

  const before = await residentMib(server.pid);
  const peak = watchPeak(server.pid);
  const response = await listRules();
  const ids = new Set<string>();
  let outline = '';
  for await (const part of splitRules(response.body ?? [])) {
    if (part.kind === 'outline') {
      outline += part.text;
      continue;
    }
    outline += '0';
    const { id, name } = JSON.parse(part.text);
    expect(name).toBe('a rule');
    ids.add(id);
    // A reader that stops for a while: what it does not take must not pile up in the server.
    if (ids.size === 5_000) await sleep(500);
  }
  const growthMib = (await peak.stop()) - before;

  expect(response.status).toBe(200);
  expect(ids.size).toBe(ruleCount);
  const { rules, next_cursor } = JSON.parse(outline);
  expect([rules.length, next_cursor]).toEqual([ruleCount, null]);
  expect(peak.samples()).toBeGreaterThan(20);
  expect(growthMib).toBeLessThan(growthMaxMib);
});

test('control: a process that holds the same list as one array grows by more than that', async () => {
  const script = `
    const before = process.memoryUsage().rss;
    const { rules } = await (await fetch(process.env.URL, { headers: { authorization: process.env.KEY } })).json();
    const answer = JSON.stringify({ rules });
    const growthMib = (process.memoryUsage().rss - before) / 2 ** 20;
    console.log(JSON.stringify({ count: rules.length, characters: answer.length, growthMib }));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], {
    env: { URL: new URL(operations.ListRules.path, server.url).href, KEY: `Bearer ${account.key}` },
  });
  const { count, growthMib } = JSON.parse(stdout);
  expect(count).toBe(ruleCount);
  expect(growthMib).toBeGreaterThan(growthMaxMib);
});

function listRules(): Promise<Response> {
  return fetch(new URL(operations.ListRules.path, server.url), {
    headers: { authorization: `Bearer ${account.key}` },
  });
}

interface Part {
  kind: 'rule' | 'outline';
  text: string;
}

/**
 * Takes a list apart while it arrives: the text of each rule, and the outline, which is everything around the
 * rules. With a number in the place of each rule the outline is a JSON document of its own.
 */
async function* splitRules(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Part> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  /** What is not handed out yet. It is read again with the next chunk, so it starts where `restDepth` is known. */
  let rest = '';
  let restDepth = 0;
  for await (const chunk of chunks) {
    const text = rest + decoder.decode(chunk, { stream: true });
    let start = 0;
    /** How many brackets are open: a rule begins where the third one opens. */
    let depth = restDepth;
    for (const token of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
      if (token[0].startsWith('"')) continue;
      const opens = token[0] === '{' || token[0] === '[';
      if (opens && depth === 2) {
        yield { kind: 'outline', text: text.slice(start, token.index) };
        start = token.index;
      }
      depth += opens ? 1 : -1;
      if (!opens && depth === 2) {
        yield { kind: 'rule', text: text.slice(start, token.index + 1) };
        start = token.index + 1;
      }
    }
    rest = text.slice(start);
    if (start > 0) restDepth = 2;
  }
  yield { kind: 'outline', text: rest };
}

async function residentMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

function watchPeak(pid: number) {
  const over = new AbortController();
  let peakMib = 0;
  let samples = 0;
  const watching = (async () => {
    while (!over.signal.aborted) {
      peakMib = Math.max(peakMib, await residentMib(pid));
      samples += 1;
      await sleep(10);
    }
  })();
  return {
    samples: () => samples,
    async stop() {
      over.abort();
      await watching;
      return peakMib;
    },
  };
}
