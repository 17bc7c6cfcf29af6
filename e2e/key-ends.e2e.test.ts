import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { overHttp, startAgent } from './src/mcp-agent.ts';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

const promisedMs = 5_000;
const within = { timeoutMs: 15_000 };

let world: World;
let server: ServerUnderTest;
let owner: Account;
beforeAll(async () => {
  world = await startWorld();
  server = await world.startServer();
  owner = await world.newAccount();
});
afterAll(() => world?.[Symbol.asyncDispose]());

interface Ended {
  readonly what: string;
  /** Of an answer that has one; null for what had begun to be answered before. */
  readonly status: number | null;
  readonly text: string;
  readonly at: number;
}

/** Everything that a key can have open, each until it ends by itself or by the server. */
async function openEverything(account: Account, ruleId: string): Promise<Promise<Ended>[]> {
  const api = server.api(account);
  const answered = async (what: string, path: string, body: object): Promise<Ended> => {
    const { status, text } = await api.call('POST', path, body);
    return { what, status, text, at: Date.now() };
  };
  const waiting = { rule_id: ruleId, wait_seconds: 30 };
  const agents = await Promise.all([
    startAgent(overHttp({ url: server.url, key: account.key })),
    startAgent(overHttp({ url: server.url, key: account.key }), 'legacy'),
  ]);
  const tool = async (what: string, agent: (typeof agents)[number]): Promise<Ended> => {
    const called = await agent.callRaw('wait_for_matches', { reader: what, ...waiting });
    await agent[Symbol.asyncDispose]();
    return { what, status: null, text: `${called.refusal?.code} ${called.text}`, at: Date.now() };
  };
  const [modern, legacy] = agents;
  return [
    answered('list', '/matches', { ...waiting, order: 'oldest' }),
    answered('reader', '/api.ReadMatches', { ...waiting, reader: `reader-${account.keyId}` }),
    stream(account, ruleId),
    lateBody(account),
    tool(`tool-${account.keyId}`, modern),
    tool(`legacy-tool-${account.keyId}`, legacy),
  ];
}

async function stream({ key }: Account, ruleId: string): Promise<Ended> {
  const response = await fetch(new URL(`/matches/stream?rule_id=${ruleId}`, server.url), {
    headers: { authorization: `Bearer ${key}` },
  });
  const text = await response.text();
  return { what: 'stream', status: null, text, at: Date.now() };
}

/** A change whose key was accepted, and whose body comes when the key has ended. */
async function lateBody({ key }: Account): Promise<Ended> {
  const { hostname, port } = new URL(server.url);
  const body = JSON.stringify({ reader: 'unknown' });
  const socket = connect(Number(port), hostname);
  const head = [
    'POST /api.DeleteReader HTTP/1.1',
    'host: e',
    `authorization: Bearer ${key}`,
    'connection: close',
  ];
  const kind = ['content-type: application/json', `content-length: ${body.length}`];
  socket.write(`${[...head, ...kind].join('\r\n')}\r\n\r\n`);
  bodies.push(() => void socket.write(body));
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  await once(socket, 'close');
  return { what: 'late body', status: Number(text.split(' ')[1]), text, at: Date.now() };
}
const bodies: (() => void)[] = [];

test.each(['revoked', 'expired'])('a key that is %s ends all that is open with it', async (how) => {
  const word = `${how}word`;
  const { rule_id } = await server.api(owner).createRule({ x: word });
  const expiresAt = new Date(Date.now() + 10_000);
  const created = await world.admin.createKey({ ...owner, ...(how === 'expired' && { expiresAt }) });
  if (!created) throw new Error('the account is gone');
  const open = await openEverything({ ...owner, ...created }, rule_id);
  const ends: Ended[] = [];
  for (const one of open) void one.then((ended) => ends.push(ended));
  // Everything is under way when the readers exist and the stream is counted.
  await eventually(async () => {
    const { json } = await server.api(owner).call('POST', '/api.ListReaders', {});
    const names = (json as { readers: { name: string }[] }).readers.map(({ name }) => name);
    expect(names.filter((name) => name.includes(created.keyId))).toHaveLength(3);
    expect(await (await fetch(server.metricsUrl)).text()).toMatch(/^earshot_match_streams 1$/m);
  }, within);
  const openAt = Date.now();

  if (how === 'revoked') await world.admin.revokeKey(created.keyId);
  const endedAt = how === 'revoked' ? Date.now() : expiresAt.getTime();
  expect(endedAt, 'everything was open before the key ended').toBeGreaterThanOrEqual(openAt);
  await sleep(Math.max(0, endedAt + promisedMs - Date.now()));
  for (const send of bodies.splice(0)) send();
  const [post] = await world.sandbox.posts([`${word} is out`]);
  await eventually(async () => {
    const { matches } = await server.api(owner).matches({ rule_id });
    expect(matches.map(({ platform_post_id }) => platform_post_id)).toEqual([post?.id]);
  }, within);

  await eventually(async () => expect(ends).toHaveLength(open.length), within);
  expect(ends.filter(({ text }) => text.includes(post?.id ?? '') || text.includes('is out'))).toEqual([]);
  const late = ends.filter(({ what, at }) => what !== 'late body' && at > endedAt + promisedMs);
  expect(late).toEqual([]);
  for (const { what, status, text } of ends) {
    if (status !== null) expect({ what, status }).toEqual({ what, status: 401 });
    else if (what !== 'stream') expect(text).toContain('unauthenticated');
  }
});
