import { expect, test, vi } from 'vitest';
import { type BellName, createBellListener } from '../engines/bells.ts';
import { createParsedRules } from '../language/explain-match.ts';
import { matchIdOf } from '../runtime/ids.ts';
import type { StoredMatch } from './match-reader.sql.ts';
import { openMatchTail } from './match-tail.ts';
import type { MatchHeader, TailReader } from './tail-reader.sql.ts';

const common = { ruleId: 'rule_1', ruleVersion: 1, platform: 'x', via: 'stream' } as const;

function stored(position: number): StoredMatch {
  const none = { url: null, title: null, author: null, published_at: null, language: null };
  const payload = { ...none, text: `post ${position}`, raw: {} };
  const createdAt = new Date(position);
  const key = `${position}`;
  return { ...common, position, createdAt, ruleValue: '', platformPostId: key, eventKey: key, payload };
}

function header(position: number, removed: MatchHeader['removed'] = null): MatchHeader {
  const event = { eventKey: `${position}`, eventDay: removed ? null : '2026-11-14' };
  return { ...common, ...event, accountId: 'acc_1', position, createdAt: new Date(position), removed };
}

async function openTail(nowMs = () => 0) {
  const log: MatchHeader[] = [];
  const reader: TailReader = {
    lastPosition: async () => log.at(-1)?.position ?? 0,
    restoredTo: async () => null,
    after: async (position) => log.filter((one) => one.position > position),
    load: async (headers) => ({
      matches: headers.filter(({ removed }) => removed === null).map(({ position }) => stored(position)),
      taken: headers.length,
    }),
  };
  const bell = createBellListener(() => undefined);
  const bells = { ring: () => bell.rang(), listen: (_name: BellName) => bell };
  const telemetry = { matchLogRestored: () => undefined, matchFollowed: () => undefined };
  const tail = await openMatchTail({ reader, parsedRules: createParsedRules(), bells, telemetry, nowMs });
  const stop = new AbortController();
  const running = tail.worker.run(stop.signal);
  return {
    tail,
    signal: stop.signal,
    write(...headers: MatchHeader[]) {
      log.push(...headers);
      bells.ring();
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

type Member = ReturnType<Awaited<ReturnType<typeof openTail>>['tail']['join']>;

const takenAfter = (position: number, of: Member) =>
  of
    .after(position, { limit: 10, accepts: () => true })
    ?.entries.map((one) => ('match' in one ? one.match.payload.text : one.removal));

test('a match that is removed before a waiting reader has taken it is not returned, but its removal is', async () => {
  await using opened = await openTail();
  using member = opened.tail.join({ accountId: 'acc_1', ruleId: null });
  using ofRule = opened.tail.join({ accountId: 'acc_1', ruleId: 'rule_1' });
  const write = async (...headers: MatchHeader[]) => {
    opened.write(...headers);
    await member.wait(10_000, opened.signal);
  };

  await write(header(1), header(2));
  expect(takenAfter(0, member)).toEqual(['post 1', 'post 2']);
  await write(header(3, { matchPosition: 1, reason: 'deleted' }), header(4));
  const at = new Date(3).toISOString();
  const removal = { type: 'removed', match_id: matchIdOf(1), reason: 'deleted', removed_at: at };
  expect(takenAfter(0, member)).toEqual(['post 2', removal, 'post 4']);
  expect(takenAfter(0, ofRule)).toEqual(['post 2', removal, 'post 4']);
});

test('a client that polls soon again finds what arrived in between, and one that was absent for long does not', async () => {
  let nowMs = 0;
  await using opened = await openTail(() => nowMs);
  const { tail } = opened;
  const reached = (position: number) => vi.waitFor(() => expect(tail.position()).toBe(position));
  const join = () => tail.join({ accountId: 'acc_1', ruleId: null });
  join()[Symbol.dispose]();
  opened.write(header(1));
  await reached(1);
  nowMs += 3_000;
  using soon = join();
  expect(takenAfter(0, soon)).toEqual(['post 1']);
  soon[Symbol.dispose]();
  nowMs += 3_001;
  opened.write(header(2));
  await reached(2);
  using late = join();
  expect(takenAfter(0, late)).toBeUndefined();
});
