import type { ReadAnswer } from '@earshot/mcp/injections';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Agent, overHttp, startAgent } from './src/mcp-agent.ts';
import { shareWorld } from './src/shared-world.ts';
import type { ServerUnderTest, World } from './src/world.ts';

let world: World;
let server: ServerUnderTest;
beforeAll(async () => {
  world = await shareWorld();
  server = await world.startServer();
});
afterAll(() => world?.[Symbol.asyncDispose]());

const rule = z.looseObject({
  id: z.string(),
  state: z.string(),
  platforms: z.record(z.string(), z.looseObject({ status: z.string(), translated_value: z.string() })),
});
const created = z.looseObject({ rule_id: z.string() });
const rules = z.looseObject({ shown: z.number(), rules: z.array(z.looseObject({ id: z.string() })) });

const textsOf = ({ matches }: ReadAnswer) => matches.map(({ text }) => text);
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

/**
 * Whole conversations of an agent without a model: all it knows is from `tools/list` and from the results. Each task
 * continues where the previous one ended.
 */
describe('an agent over HTTP', () => {
  const word = 'quokka';
  let agent: Agent;
  let ruleId = '';
  let pagesRuleId = '';
  let ack: string | null;

  beforeAll(async () => {
    const { key } = await world.newAccount();
    agent = await startAgent(overHttp({ url: server.url, key }));
  });
  afterAll(() => agent?.[Symbol.asyncDispose]());

  /** From the first match of the rule on: the rule is older than the reader. */
  const wait = (args: object = {}) =>
    agent.read('wait_for_matches', { reader: 'me', rule_id: ruleId, ...args });
  const post = (...texts: string[]) => world.sandbox.posts(texts);
  const draft = (x: string) => ({
    name: word,
    intent: `Know of ${word}s`,
    platforms: ['x'],
    overrides: { x },
  });

  test('finds where to start, and reads the rule syntax', async () => {
    const start = agent.tools.find(({ description }) => description?.startsWith('START HERE'));
    const { text } = await agent.callRaw(start?.name ?? '', {});
    expect(text.match(/^# .*$/gm)).toHaveLength(2);
  });

  test('creates a rule after one correction: it sends what the refusal suggests', async () => {
    const refusal = await agent.refused('create_rule', draft(`${word} AND (zoo OR island)`));
    expect(refusal.violations?.map(({ field }) => field)).toContain('overrides.x');
    expect(refusal.violations?.[0]?.excerpt).toContain('^');
    const value = refusal.send?.overrides['x'] ?? '';
    ({ rule_id: ruleId } = await agent.call('create_rule', draft(value), created));
    const watched = await agent.call('get_rule', { rule_id: ruleId }, rule);
    expect(watched.platforms['x']).toMatchObject({
      status: 'active',
      translated_value: `(island OR zoo) ${word}`,
    });
  });

  test('creates a rule for web pages', async () => {
    const value = `added:"${word}" AND language:"en"`;
    const args = { ...draft(word), platforms: ['firehose'], overrides: { firehose: value } };
    ({ rule_id: pagesRuleId } = await agent.call('create_rule', args, created));
    expect(pagesRuleId).toMatch(/^rule_/);
  });

  test('learns that a rule has the same query already, creates a second one all the same, and deletes it', async () => {
    const same = draft(`${word} (zoo OR island)`);
    const refusal = await agent.refused('create_rule', same);
    expect(refusal.what_to_do).toContain(ruleId);
    const second = await agent.call('create_rule', { ...same, allow_equivalent: true }, created);
    await agent.call(
      'delete_rule',
      { rule_id: second.rule_id },
      z.object({ rule_id: z.literal(second.rule_id) }),
    );
  });

  test('waits without a match, and learns that it is too early to judge', async () => {
    const { counts, cursor, own } = await wait({ wait_seconds: 1 });
    expect({ counts, cursor }).toEqual({ counts: { found: 0, shown: 0, left_out: 0 }, cursor: null });
    expect(own).toMatch(/is active[^]*On x it has been live since[^]*Next: .*too early/);
  });

  test('waits, and gets the match as soon as it arrives', async () => {
    const waiting = wait({ wait_seconds: 30 });
    await post(`a ${word} at the zoo`);
    const answer = await waiting;
    expect(textsOf(answer)).toEqual([`a ${word} at the zoo`]);
    expect(answer.matches[0]?.rules).toEqual([`${ruleId} v1 "${word}"`]);
    ack = answer.cursor;
  });

  test('reads the same matches again until it acknowledges them', async () => {
    const again = await wait({ wait_seconds: 0 });
    expect({ texts: textsOf(again), ack: again.cursor }).toEqual({ texts: [`a ${word} at the zoo`], ack });
  });

  test('acknowledges, and nothing is left', async () => {
    expect((await wait({ ack, wait_seconds: 0 })).counts.found).toBe(0);
  });

  test('reads thirty posts in bounded answers: each once, none missing', async () => {
    const texts = numbers(30).map((number) =>
      `${word} ${number} on the island ${'and more '.repeat(20)}`.trim(),
    );
    await post(...texts);
    const read: string[] = [];
    let answers = 0;
    for (let place: string | null = null; read.length < texts.length; answers++) {
      const answer: ReadAnswer = await wait({
        max_tokens: 1000,
        wait_seconds: 20,
        ...(place && { ack: place }),
      });
      const ids = answer.matches.map(({ id }) => id);
      // The lines have the beginnings of texts, which differ in their numbers.
      read.push(...textsOf(answer).map((text) => text.split(' on the')[0] ?? ''));
      expect(ids).toHaveLength(answer.counts.shown);
      place = answer.cursor;
      ack = place;
    }
    expect(read.toSorted()).toEqual(
      numbers(30)
        .map((number) => `${word} ${number}`)
        .toSorted(),
    );
    expect(answers).toBeGreaterThan(3);
    expect((await wait({ ack, wait_seconds: 0 })).counts.found).toBe(0);
  });

  test('expands the one text that it wants to read in full', async () => {
    const long = `${word} zoo ${'x'.repeat(3_000)}`;
    await post(long);
    const { matches } = await wait({ max_tokens: 1000, wait_seconds: 30 });
    expect(matches).toMatchObject([{ text: expect.stringMatching(/^\w+ zoo x+…$/) }]);
    const whole = { rule_id: ruleId, expand: matches.map(({ id }) => id), max_tokens: 20_000 };
    const listed = await agent.callRaw('list_matches', whole);
    expect(listed.text).toContain(`\n| ${long}\n`);
    expect((await agent.callRaw('wait_for_matches', { reader: 'me', ...whole })).text).toContain(long);
  });

  test('tunes a noisy rule', async () => {
    const overrides = { x: `${word} (zoo OR island) -advertisement` };
    const tuned = await agent.call('update_rule', { rule_id: ruleId, platforms: ['x'], overrides }, rule);
    expect(tuned).toMatchObject({ state: 'active' });
  });

  test('pauses a rule, and an answer without matches says so', async () => {
    expect(await agent.call('pause_rule', { rule_id: ruleId }, rule)).toMatchObject({ state: 'paused' });
    // Pausing a paused rule is not an error.
    expect(await agent.call('pause_rule', { rule_id: ruleId }, rule)).toMatchObject({ state: 'paused' });
    const from = new Date().toISOString();
    const { own } = await agent.read('list_matches', { rule_id: ruleId, from });
    expect(own).toMatch(/is paused[^]*Next: resume_rule/);
  });

  test('resumes the rule as the answer suggested, and receives matches again', async () => {
    expect(await agent.call('resume_rule', { rule_id: ruleId }, rule)).toMatchObject({ state: 'active' });
    expect(await agent.call('resume_rule', { rule_id: ruleId }, rule)).toMatchObject({ state: 'active' });
    await wait({ reader: 'resumed', start: 'now', wait_seconds: 0 });
    await post(`${word} zoo again`);
    expect(textsOf(await wait({ reader: 'resumed', wait_seconds: 30 }))).toEqual([`${word} zoo again`]);
  });

  test('uses an unknown id, and is directed to the list', async () => {
    const refusal = await agent.refused('get_rule', { rule_id: 'rule_000' });
    expect(refusal).toMatchObject({ code: 'not_found', what_to_do: expect.stringContaining('list_rules') });
    const listed = await agent.call('list_rules', {}, rules);
    expect(listed.rules.map(({ id }) => id)).toContain(ruleId);
  });

  test("names another rule than its reader has, and gets the reader's rule in the refusal", async () => {
    const refusal = await agent.refused('wait_for_matches', { reader: 'me', rule_id: pagesRuleId });
    expect(refusal).toMatchObject({ code: 'already_exists', reader: { rule_id: ruleId } });
  });

  test('deletes a rule, and its matches with it', async () => {
    for (const rule_id of [ruleId, pagesRuleId]) {
      await agent.call('delete_rule', { rule_id }, z.looseObject({ deleted_at: z.string() }));
      expect(await agent.refused('list_matches', { rule_id })).toMatchObject({ code: 'not_found' });
    }
    const { own } = await agent.read('list_matches', {});
    expect(own).toBe('The account has no rule yet.\nNext: create_rule');
    const refusal = await agent.refused('wait_for_matches', { reader: 'me' });
    expect(refusal).toMatchObject({ code: 'failed_precondition' });
    expect(refusal.what_to_do).toContain('delete_reader');
    await agent.call('delete_reader', { reader: 'me' }, z.looseObject({ deleted_at: z.string() }));
    expect((await agent.read('wait_for_matches', { reader: 'me', wait_seconds: 0 })).counts.found).toBe(0);
  });

  test('finds the guides as resources, and prompts for its work', async () => {
    const { resources } = await agent.client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['earshot://syntax/x', 'earshot://syntax/firehose']);
    for (const { uri } of resources) {
      const { contents } = await agent.client.readResource({ uri });
      expect(contents).toMatchObject([{ mimeType: 'text/markdown', text: expect.stringMatching(/^# /) }]);
    }
    const { prompts } = await agent.client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['draft_rule', 'tune_rule']);
    const args = { rule_id: 'rule_1', problem: 'noisy' };
    const { messages } = await agent.client.getPrompt({ name: 'tune_rule', arguments: args });
    expect(messages).toMatchObject([{ role: 'user', content: { text: expect.stringContaining('rule_1') } }]);
  });
});
