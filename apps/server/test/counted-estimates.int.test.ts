import { defaultXToken, startSandbox } from '@earshot/sandbox';
import type { Template } from '@earshot/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createUpstreamClient } from '../src/upstream/client.ts';
import { createXCounts } from '../src/upstream/x/counts.ts';
import { type PreviewWorld, startPreviewWorld } from './preview-world.ts';
import { createMigratedTemplate } from './support.ts';

const hourMs = 3_600_000;

let template: Template;
let stack: AsyncDisposableStack;
let world: PreviewWorld;
let publish: (posts: readonly object[]) => Promise<void>;
let paths: string[];
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());
beforeEach(async () => {
  stack = new AsyncDisposableStack();
  const { url } = stack.use(await startSandbox({ rateLimits: false }));
  const client = stack.use(createUpstreamClient({ baseUrl: url, token: defaultXToken, name: 'X' }));
  paths = [];
  const watched: typeof client = {
    ...client,
    call: (method, path, options) => {
      paths.push(path);
      return client.call(method, path, options);
    },
  };
  world = stack.use(await startPreviewWorld(template, [createXCounts(watched, 'x:main')]));
  await setSource('live');
  publish = async (posts) => {
    const answer = await fetch(new URL('/sandbox/x/posts', url), {
      method: 'POST',
      body: JSON.stringify({ posts }),
    });
    expect(answer.status).toBe(200);
  };
});
afterEach(() => stack?.disposeAsync());

const setSource = (state: string) =>
  world.database.run(
    `update sources set state = $1, live_until = now() + $2 * interval '1 minute' where id = 'x:main'`,
    [state, state === 'live' ? 1 : 0],
  );
/** Two in each hour of three days, a day ago. */
const posts = (text: string) =>
  Array.from({ length: 144 }, (_, n) => ({
    text,
    created_at: new Date(Date.now() - (24 + n / 2) * hourMs).toISOString(),
  }));

test('the platform counts a week by hour, and its fee is on the bill of the source', async () => {
  await publish([...posts('an aurora'), ...posts('a glacier')]);
  const { estimate } = await world.preview({ value: 'aurora -is:retweet -is:quote' });
  expect(estimate).toMatchObject({
    basis: 'counts',
    bound: null,
    basis_note: 'From the platform’s counts of the last 7 days.',
    fee_usd: 0.005,
    busiest_hour: { matches: 2 },
  });
  // 144 in six whole days.
  expect(estimate.matches_per_day?.average).toBeGreaterThan(10);
  expect(estimate.matches_per_day?.average).toBeLessThan(30);
  const billed = await world.database.one(`select source_id, kind, at_least, at_most from source_usage`);
  expect(billed).toEqual({ source_id: 'x:main', kind: 'counts_recent', at_least: 1, at_most: 1 });
});

test('counts replace the warning that a query may be broad', async () => {
  await publish(posts('an aurora'));
  const codes = async () => (await world.preview({ value: 'aurora' })).warnings.map(({ code }) => code);
  expect(await codes()).toEqual([]);
  await world.database.run('delete from platform_counts');
  await setSource('reconnecting');
  expect(await codes()).toEqual(['broad_rule']);
});

test('counts that miss what the account has stored give way to it', async () => {
  await publish(posts('an aurora'));
  await world.store(
    Array.from({ length: 60 }, (_, n) => ({ text: 'aurora', rules: ['rule_1'], hoursAgo: n / 120 })),
  );
  const { estimate } = await world.preview({ value: 'aurora -is:retweet -is:quote' });
  expect(estimate).toMatchObject({ matches_per_day: { average: 60 }, bound: 'at_least', fee_usd: 0.005 });
  expect(estimate.basis_note).toMatch(
    /^From the platform’s counts of the last 7 days\. Already 60 matches in the last 3\d minutes\.$/,
  );
});

test.each([
  ['aurora', 'at_least', /leave out reposts and quoted text: more/],
  ['aurora -is:retweet -is:quote bio:pilot', 'at_most', /do not know bio: less/],
  ['aurora bio:pilot', null, /more will come.*less will come/],
])("the platform's counts of %s are a bound of the kind %s", async (value, bound, note) => {
  await publish(posts('an aurora'));
  const { estimate } = await world.preview({ value });
  expect(estimate).toMatchObject({ basis: 'counts', bound });
  expect(estimate.basis_note).toMatch(note);
});

describe('the platform is not requested to count', () => {
  test('again within an hour for the same account; another account pays for its own count', async () => {
    await publish(posts('an aurora'));
    const fees = [];
    for (const accountId of ['acc_1', 'acc_1', 'acc_2', 'acc_2'])
      fees.push((await world.preview({ value: 'aurora' }, { accountId })).estimate.fee_usd);
    expect(fees).toEqual([0.005, 0, 0.005, 0]);
    expect(paths).toHaveLength(2);
    await world.database.run(`update platform_counts set counted_at = counted_at - interval '61 minutes'`);
    expect((await world.preview({ value: 'aurora' })).estimate.fee_usd).toBe(0.005);
  });

  test("more often than the account's daily limit", async () => {
    const bases = [];
    for (const value of ['one', 'two', 'three', 'four'])
      bases.push((await world.preview({ value })).estimate.basis_note);
    expect(bases.filter((note) => note.includes('requested its counts 3 times today'))).toHaveLength(1);
    expect(paths).toHaveLength(3);
    await world.preview({ value: 'one' }, { accountId: 'acc_2' });
    expect(paths).toHaveLength(4);
  });

  test('while its source is not live', async () => {
    await setSource('no_credit');
    const { estimate } = await world.preview({ value: 'aurora' });
    expect(estimate).toMatchObject({ basis: 'unknown', fee_usd: 0 });
    expect(estimate.basis_note).toMatch('do not help: its source is not live (no_credit).');
    expect(paths).toEqual([]);
  });

  test('a query that it cannot count', async () => {
    const { estimate } = await world.preview({ value: 'bio:pilot' });
    expect(estimate.basis_note).toMatch('do not help: counts do not know bio.');
    expect(paths).toEqual([]);
  });
});
