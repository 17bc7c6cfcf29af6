import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { connectInProcess, jsonAnswer } from './in-process.ts';

const unasked: typeof fetch = () => Promise.reject(new Error('nothing is to be asked'));

const names =
  'platform_syntax validate_rule preview_rule create_rule wait_for_matches list_matches list_rules get_rule update_rule pause_rule resume_rule delete_rule get_coverage get_usage list_notices';

describe('tools/list', () => {
  test.each([{ mode: { pin: '2026-07-28' } }, { mode: 'legacy' as const }])(
    'takes at most 6,000 tokens as it goes over the wire ($mode)',
    async ({ mode }) => {
      await using server = await connectInProcess(unasked, mode);
      await server.client.listTools();
      const listed = server.answers.find((answer) => answer.includes('"outputSchema"')) ?? '';
      const tokens = countTokens(listed);
      expect(tokens).toBeLessThanOrEqual(6_000);
      expect(tokens).toBeGreaterThan(1_000);
    },
  );

  test('has every tool with a title, both schemas and all hints', async () => {
    await using server = await connectInProcess(unasked);
    const { tools } = await server.client.listTools();
    expect(tools.map(({ name }) => name).join(' ')).toBe(names);
    for (const { title, description, outputSchema, inputSchema, annotations } of tools) {
      expect(title && description && outputSchema && inputSchema).toBeTruthy();
      const hints = ['destructiveHint', 'idempotentHint', 'openWorldHint', 'readOnlyHint'];
      expect(Object.keys(annotations ?? {}).toSorted()).toEqual(hints);
    }
    const destructive = tools.filter(({ annotations }) => annotations?.destructiveHint);
    expect(destructive.map(({ name }) => name)).toEqual(['update_rule', 'delete_rule']);
  });

  test('tells what an agent must know before its first rule', async () => {
    await using server = await connectInProcess(unasked);
    const { tools } = await server.client.listTools();
    const [first] = tools;
    expect(first?.description).toMatch(
      /^START HERE.*x: posts on X, premium.*firehose: web pages.*regular.*billed/,
    );
    expect(tools.find(({ name }) => name === 'create_rule')?.description).toContain('platform_syntax first');
  });
});

describe('list_rules', () => {
  const rules = Array.from({ length: 60 }, (_, index) => ({
    id: `rule_${index}`,
    name: '監視'.repeat(100),
    intent: '地震と津波の速報を知りたい'.repeat(100),
    created_at: '2026-11-14T22:46:00.000Z',
    updated_at: '2026-11-14T22:46:00.000Z',
    version: 1,
    state: 'active',
    expires_at: null,
    platforms: {
      x: {
        platform_rule_id: '1',
        translated_value: '地震 OR 津波 '.repeat(100),
        status: 'active',
        rule_type: 'premium',
        active_since: null,
        last_match_at: null,
        match_count: 0,
      },
    },
  }));

  /** Pages as the API does: the cursor is the place behind the last rule of the page. */
  const api: typeof fetch = async (input) => {
    const { searchParams } = new URL(input instanceof Request ? input.url : input);
    const from = Number(searchParams.get('cursor') ?? 0);
    const to = from + Number(searchParams.get('limit'));
    return jsonAnswer({ rules: rules.slice(from, to), next_cursor: to < rules.length ? String(to) : null });
  };

  test.each([1_000, 2_000, 10_000])(
    'stays within %i tokens, and its cursors skip nothing',
    async (max_tokens) => {
      await using server = await connectInProcess(api);
      const listed: unknown[] = [];
      for (let cursor: unknown; cursor !== null; ) {
        const args = { max_tokens, limit: 50, ...(cursor !== undefined && { cursor }) };
        const result = await server.client.callTool({ name: 'list_rules', arguments: args });
        const { content, structuredContent } = result;
        expect(countTokens(JSON.stringify({ content, structuredContent }))).toBeLessThanOrEqual(max_tokens);
        const page = Object(structuredContent);
        listed.push(...page.rules.map(({ id }: { id: string }) => id));
        cursor = page.next_cursor;
      }
      expect(listed).toEqual(rules.map(({ id }) => id));
    },
  );
});

test('a field that the API gets some day does not reach agents by itself', async () => {
  const rule = {
    id: 'rule_1',
    name: 'a',
    intent: 'b',
    created_at: '2026-11-14T22:46:00.000Z',
    updated_at: '2026-11-14T22:46:00.000Z',
    version: 1,
    state: 'active',
    expires_at: null,
    managed_by: { set: 'alerts', key: 'a' },
    examples: { must_match: [{ text: 'words of a stranger' }] },
    platforms: {},
  };
  await using server = await connectInProcess(async () => jsonAnswer(rule));
  const result = await server.client.callTool({ name: 'get_rule', arguments: { rule_id: 'rule_1' } });
  expect(result.structuredContent).toMatchObject({ id: 'rule_1', managed_by: 'alerts' });
  expect(JSON.stringify(result)).not.toContain('stranger');
});

test('a fault of ours is told as such, without its message, and reported', async () => {
  // An answer that no version of the API gives.
  await using server = await connectInProcess(async () => jsonAnswer({ rules: 'secret-of-the-inside' }));
  const result = await server.client.callTool({ name: 'list_rules', arguments: {} });
  expect(result.isError).toBe(true);
  expect(JSON.stringify(result)).toContain('Something went wrong on our side');
  expect(JSON.stringify(result)).not.toMatch(/secret|TypeError|at .*\.ts/);
  expect(server.faults).toHaveLength(1);
});

test('a call that the client gives up reaches the API as given up', async () => {
  const asked = Promise.withResolvers<AbortSignal>();
  await using server = await connectInProcess((_input, init) => {
    const { signal } = init ?? {};
    if (signal) asked.resolve(signal);
    return new Promise((_resolve, reject) =>
      signal?.addEventListener('abort', () => reject(new Error('gone'))),
    );
  });
  const leaving = new AbortController();
  const call = server.client.callTool({ name: 'list_rules', arguments: {} }, { signal: leaving.signal });
  const signal = await asked.promise;
  leaving.abort();
  await expect(call).rejects.toThrow(/abort/i);
  await expect.poll(() => signal.aborted).toBe(true);
});
