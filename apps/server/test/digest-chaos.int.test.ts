import { seededRandom } from '@earshot/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../src/engines/database.ts';
import { type CheckpointLabel, digestCheckpoints } from '../src/runtime/checkpoint.ts';
import {
  type DigestMessage,
  type DigestWorld,
  distinct,
  openDigestWorld,
  startDigestReceiver,
  textsOf,
} from './digest-world.ts';
import { mortal } from './mortal-node.ts';

let stack: AsyncDisposableStack;
let database: Database;
let world: DigestWorld;
beforeEach(async () => {
  stack = new AsyncDisposableStack();
  ({ database, world } = await openDigestWorld(stack));
});
afterEach(() => stack.disposeAsync());

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** The leases of crashed nodes expire. */
const expireLeases = () => database.run(`update digest_messages set lease_until = '-infinity'`);

async function storedIds(): Promise<string[]> {
  const rows = await database.many<{ text: string }>(
    `select payload::json ->> 'text' as text from posts order by 1`,
  );
  return rows.map(({ text }) => text);
}

describe('each match is in exactly one digest message', () => {
  test.each(digestCheckpoints)('after a crash at %s', async (label) => {
    const { endpoint, recipients } = await startDigestReceiver(stack, world);
    await world.create({ recipients });
    await world.webhooks.storeMatches(['one', 'two']);
    world.clock.nowMs += minuteMs;
    const doomed = mortal((at) => at === label);
    await expect(world.startNode(doomed).tick()).rejects.toThrow('killed');
    await expireLeases();
    await world.webhooks.storeMatches(['three']);
    const node = world.startNode();
    for (let round = 0; round < 3; round++) {
      world.clock.nowMs += minuteMs;
      await node.tick();
    }
    const messages = distinct(endpoint.received);
    expect(messages.map(textsOf)).toEqual([['one', 'two'], ['three']]);
    expect(endpoint.received).toHaveLength(label === 'digest.sent' ? 3 : 2);
  });

  test('control: but not if the position moves after the sending, without a stored message', async () => {
    const { endpoint, recipients } = await startDigestReceiver(stack, world);
    await world.create({ recipients });
    const forgetIssue = () =>
      database.run(
        'update digests set position = position_from, last_number = number - 1 from digest_messages where digest_id = id',
      );
    await world.webhooks.storeMatches(['one', 'two']);
    world.clock.nowMs += minuteMs;
    const doomed = mortal((at) => at === 'digest.sent');
    await expect(world.startNode({ ...doomed, afterMaking: forgetIssue }).tick()).rejects.toThrow('killed');
    await database.run('delete from digest_messages');
    await world.webhooks.storeMatches(['three']);
    world.clock.nowMs += minuteMs;
    await world.startNode().tick();
    const texts = distinct(endpoint.received).flatMap(textsOf);
    expect(texts.toSorted()).toEqual(['one', 'one', 'three', 'two', 'two']);
  });

  test('on two nodes that crash at any point, with failing endpoints and jumping clocks', async () => {
    const seed = Number(process.env['DIGEST_SEED'] ?? Date.now() % 1_000_000);
    const random = seededRandom(seed);
    let isCalm = false;
    const { endpoint, recipients } = await startDigestReceiver(stack, world, (_received, response) => {
      if (isCalm || random() < 0.7) return 200;
      if (random() < 0.5) return 500;
      response.destroy();
      return undefined;
    });
    // Accepted or not: all that the receiver has seen counts, because its answer may have been lost.
    await world.create({ recipients, name: 'windows', schedule: { window_seconds: 30 } });
    const deaths = new Map<CheckpointLabel, number>();
    let stored = 0;
    let latestMs = 0;
    const round = async () => {
      // A digest message shows 100 matches: no more may wait, however long nothing can be sent.
      const waiting = stored - distinct(endpoint.received).flatMap(textsOf).length;
      const count = isCalm || waiting > 90 ? 0 : Math.floor(random() * 4);
      const texts = Array.from({ length: count }, () => `post ${String(stored++).padStart(5, '0')}`);
      const nodes = [0, 1].map(() => mortal(() => !isCalm && random() < 0.05));
      const store = texts.length > 0 ? world.webhooks.storeMatches(texts) : null;
      await Promise.all([store, ...nodes.map((node) => world.startNode(node).tick().catch(died))]);
      for (const node of nodes) {
        const label = node.diedAt();
        if (label !== null) deaths.set(label, (deaths.get(label) ?? 0) + 1);
      }
      await expireLeases();
      const jump = isCalm ? 0 : random();
      latestMs = Math.max(latestMs, world.clock.nowMs);
      // A clock that was set back catches up within a few rounds: nothing is due until then.
      const stepMs = world.clock.nowMs < latestMs ? 15 * minuteMs : 20_000;
      world.clock.nowMs += jump > 0.95 ? -hourMs : jump > 0.9 ? hourMs : stepMs;
    };
    for (let rounds = 0; rounds < 80 || deaths.size < digestCheckpoints.length; rounds++) await round();
    isCalm = true;
    world.clock.nowMs += 3 * hourMs;
    for (let rounds = 0; rounds < 10; rounds++) {
      world.clock.nowMs += minuteMs;
      await round();
    }
    const messages = distinct(endpoint.received);
    const isCut = ({ total, matches }: DigestMessage) => total !== matches.length;
    expect({ seed, cut: messages.filter(isCut) }).toEqual({ seed, cut: [] });
    expect(messages.map(({ number }) => number)).toEqual(messages.map((_, index) => index + 1));
    expect({ seed, texts: messages.flatMap(textsOf).toSorted() }).toEqual({ seed, texts: await storedIds() });
  });
});

const died = (error: unknown) => {
  if (!(error instanceof Error) || !/killed|dead/.test(error.message)) throw error;
};
