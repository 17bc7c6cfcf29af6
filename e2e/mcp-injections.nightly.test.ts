import {
  harmless,
  type Injection,
  injections,
  readAnswer,
  separate,
  unseenIn,
} from '@earshot/mcp/injections';
import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Agent, overHttp, startAgent } from './src/mcp-agent.ts';
import { shareWorld } from './src/shared-world.ts';
import type { Account, ServerUnderTest, World } from './src/world.ts';

type Platform = 'x' | 'firehose';

let world: World;
let server: ServerUnderTest;
let account: Account;
let agent: Agent;
let seen: string;
beforeAll(async () => {
  world = await shareWorld();
  server = await world.startServer();
  account = await world.newAccount();
  // It reads, and can do nothing else.
  const { accountId } = account;
  const reading = await world.admin.createKey({ accountId, scopes: ['matches:read'] });
  agent = await startAgent(overHttp({ url: server.url, key: reading?.key ?? '' }));
  seen = await nonceOfAnAnswer();
});
afterAll(async () => {
  await agent?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

/** What an attacker may know: the nonce of an answer that came before. */
async function nonceOfAnAnswer(): Promise<string> {
  const word = 'beforehand';
  // On both platforms, so that later rules find streams that are open: a gap would be told, rightly.
  const { rule_id } = await server.api(account).createRule({ x: word, firehose: word });
  await world.sandbox.pages([{ url: 'https://pages.example/', title: word, text: word }]);
  const args = { reader: 'before', rule_id, start: 'oldest', wait_seconds: 30 };
  const { text } = await agent.callRaw('wait_for_matches', args);
  return separate(text).nonce;
}

async function inject(path: string, body: object): Promise<void> {
  const response = await fetch(new URL(path, world.sandbox.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
}

/** The words are in the text and in everything else that the author of a post or page chooses. */
const publish = {
  x: (word: string, all: ReadonlyMap<number, string>) =>
    inject('/sandbox/x/posts', {
      posts: Array.from(all, ([index, text]) => ({
        text: `${text}\n${word}`,
        author: { username: `mallory${index}`, name: text },
      })),
    }),
  firehose: (word: string, all: ReadonlyMap<number, string>) =>
    inject('/sandbox/firehose/pages', {
      pages: Array.from(all, ([index, text]) => ({
        // The server takes no page whose URL has U+0000 in it.
        url: `https://mallory${index}.example/#${text.replaceAll('\0', '')}`,
        title: text,
        language: 'en',
        chunks: [{ typ: 'ins', text: `${text}\n${word}` }],
      })),
    }),
};

interface Read {
  readonly nonces: string[];
  /** All that is about a match and not marked as a stranger's, by the number of its author. */
  readonly matches: Map<string, string[]>;
  /** All that is about no match, answer by answer. */
  readonly frames: string[];
}

/** Ids, times and cursors differ from match to match. */
const withoutOwn = (text: string, ruleId: string, cursor: string | null): string =>
  text
    .replaceAll(ruleId, 'rule')
    .replaceAll(cursor ?? '\n\n', 'cursor')
    .replace(/mat_[0-9a-z]+/g, 'match')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time');

/** All matches of a rule, page by page, each page taken apart at its fences; and then each match in full. */
async function readAll(ruleId: string, longCount: number): Promise<Read> {
  const read: Read = { nonces: [], matches: new Map(), frames: [] };
  for (let cursor: string | null = ''; cursor !== null; ) {
    // Each of the long ones takes an answer; they were published last, and come first.
    const limit = read.matches.size < longCount ? 1 : 10;
    const args = { rule_id: ruleId, max_tokens: 20_000, limit, ...(cursor && { cursor }) };
    const list = await separated(args);
    const { matches, cursor: next } = readAnswer(list.text);
    const full = await separated({ ...args, expand: matches.map(({ id }) => id) });
    const lines = [list, full].flatMap(({ outside }) => outside.split('\n'));
    for (const { id, url } of matches) {
      const about = lines.filter((line) => line.startsWith(id));
      expect(about).toHaveLength(2);
      const author = /mallory\d+/.exec(url ?? '')?.[0] ?? '';
      read.matches.set(
        author,
        about.map((part) => withoutOwn(part, ruleId, next)),
      );
    }
    // The last page may be empty, and then has no fence.
    if (matches.length > 0) read.nonces.push(list.nonce, full.nonce);
    const frame = lines.filter((line) => !line.startsWith('mat_'));
    read.frames.push(withoutOwn(frame.join('\n'), ruleId, next));
    cursor = next;
  }
  return read;
}

async function separated(args: object) {
  const { text } = await agent.callRaw('list_matches', args);
  expect(unseenIn(text)).toBeUndefined();
  return { text, ...separate(text) };
}

async function publishAndRead(platform: Platform, word: string, all: readonly Injection[]): Promise<Read> {
  const { rule_id } = await server.api(account).createRule({ [platform]: word });
  const isLong = ({ family }: Injection) => family === 'more than fits';
  const longCount = all.filter(isLong).length;
  for (const [long, count] of [
    [false, all.length - longCount],
    [true, all.length],
  ] as const) {
    const numbered = all.flatMap((one, index) => (isLong(one) === long ? [[index, one.text] as const] : []));
    await publish[platform](word, new Map(numbered));
    const heard = async () => expect(await server.api(account).allMatches({ rule_id })).toHaveLength(count);
    await eventually(heard, { timeoutMs: 60_000 });
  }
  return readAll(rule_id, longCount);
}

describe.each(['x', 'firehose'] as const)('200 injection texts on %s', (platform) => {
  test('stay within their fences, and nothing else tells them from harmless ones', async () => {
    const corpus = injections(seen);
    const hostile = await publishAndRead(platform, 'probeone', corpus);
    const twins = await publishAndRead(
      platform,
      'probetwo',
      corpus.map(({ family, text }) => ({ family, text: harmless(text) })),
    );
    expect(hostile.matches.size).toBe(corpus.length);
    expect(hostile.matches).toEqual(twins.matches);
    expect(hostile.frames).toEqual(twins.frames);
    const nonces = [...hostile.nonces, ...twins.nonces, seen];
    expect(new Set(nonces).size).toBe(nonces.length);
  });
});
