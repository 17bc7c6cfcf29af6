import { operations } from '@earshot/contract';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { writeReadable } from '../src/content/readable.ts';
import { connectInProcess, jsonAnswer } from './in-process.ts';

const noRequest: typeof fetch = () => Promise.reject(new Error('no request expected'));

const names =
  'platform_syntax validate_rule preview_rule create_rule wait_for_matches list_matches count_matches label_matches list_readers delete_reader list_rules get_rule update_rule pause_rule resume_rule delete_rule notify_by get_coverage get_usage list_notices';

describe('tools/list', () => {
  test.each([{ mode: { pin: '2026-07-28' } }, { mode: 'legacy' as const }])(
    'takes at most 5,249 tokens as it goes over the wire ($mode)',
    async ({ mode }) => {
      await using server = await connectInProcess(noRequest, mode);
      await server.client.listTools();
      const listed = server.answers.find((answer) => answer.includes('"inputSchema"')) ?? '';
      const tokens = countTokens(listed);
      expect(tokens).toBeLessThanOrEqual(5_249);
      expect(tokens).toBeGreaterThan(1_000);
    },
  );

  test('has every tool with a title, its schemas and all hints', async () => {
    await using server = await connectInProcess(noRequest);
    const { tools } = await server.client.listTools();
    expect(tools.map(({ name }) => name).join(' ')).toBe(names);
    const hinted = (hint: keyof NonNullable<(typeof tools)[number]['annotations']>) =>
      tools.filter(({ annotations }) => annotations?.[hint] === true).map(({ name }) => name);
    for (const { title, description, inputSchema, annotations } of tools) {
      expect(title && description && inputSchema).toBeTruthy();
      const hints = ['destructiveHint', 'idempotentHint', 'openWorldHint', 'readOnlyHint'];
      expect(Object.keys(annotations ?? {}).toSorted()).toEqual(hints);
    }
    // Tools whose answers are texts have no structured content.
    expect(tools.filter(({ outputSchema }) => !outputSchema).map(({ name }) => name)).toEqual([
      'platform_syntax',
      'wait_for_matches',
      'list_matches',
      'notify_by',
    ]);
    expect(hinted('destructiveHint')).toEqual(['delete_reader', 'update_rule', 'delete_rule']);
    const writing =
      'preview_rule create_rule wait_for_matches label_matches delete_reader update_rule pause_rule resume_rule delete_rule notify_by';
    expect(hinted('readOnlyHint')).toEqual(names.split(' ').filter((name) => !writing.includes(name)));
    // A second call of create_rule creates another rule.
    expect(hinted('idempotentHint')).toEqual(names.split(' ').filter((name) => name !== 'create_rule'));
    expect(hinted('openWorldHint').join(' ')).toBe(
      'preview_rule create_rule wait_for_matches list_matches update_rule pause_rule resume_rule delete_rule notify_by',
    );
  });

  test('has inputs of one type each: some hosts and models know no others', async () => {
    await using server = await connectInProcess(noRequest);
    const { tools } = await server.client.listTools();
    const untyped: string[] = [];
    const visit = (schema: unknown, path: string): void => {
      const { type, properties, items } = Object(schema);
      if (typeof type !== 'string' || (type === 'object' && properties === undefined)) untyped.push(path);
      for (const [name, field] of Object.entries(Object(properties))) visit(field, `${path}.${name}`);
      if (items !== undefined) visit(items, `${path}[]`);
    };
    for (const { name, inputSchema } of tools) visit(inputSchema, name);
    expect(untyped).toEqual([]);
  });

  test('has only the tools that the key may use', async () => {
    await using server = await connectInProcess(noRequest, undefined, undefined, ['matches:read']);
    const { tools } = await server.client.listTools();
    expect(tools.map(({ name }) => name).join(' ')).toBe(
      'platform_syntax wait_for_matches list_matches count_matches list_readers get_coverage get_usage list_notices',
    );
    expect(server.client.getInstructions()).not.toContain('create_rule');
    await using unscoped = await connectInProcess(noRequest);
    expect(unscoped.client.getInstructions()).toContain('create_rule');
  });

  test('explains the basics before the first rule', async () => {
    await using server = await connectInProcess(noRequest);
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
        listening: { state: 'live', reason: null, since: null },
        rule_type: 'premium',
        last_match_at: null,
        match_count: 0,
      },
    },
  }));

  /** Returns pages as the API does. The cursor is the position behind the last rule of the page. */
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

test('list_rules shows that a rule is not received', async () => {
  const listening = { state: 'down', reason: 'failing', since: '2026-11-19T10:10:22.808Z' };
  const x = { status: 'active', translated_value: 'cats', match_count: 0, last_match_at: null, listening };
  const rule = { id: 'rule_1', name: 'Cats', intent: 'Cats', state: 'active', platforms: { x } };
  await using server = await connectInProcess(async () => jsonAnswer({ rules: [rule], next_cursor: null }));
  const { structuredContent } = await server.client.callTool({ name: 'list_rules', arguments: {} });
  expect(Object(structuredContent).rules[0].platforms.x).toMatchObject({
    status: 'active',
    listening: 'down: failing, since 2026-11-19T10:10:22.808Z',
  });
});

test('get_usage shows one amount if the minimum is the maximum', async () => {
  const figures = (min: number, max: number) => ({ matches: 1, usd: { min, max } });
  const usage = [{ platform: 'firehose', ...figures(0.005, 0.005) }];
  await using server = await connectInProcess(async () =>
    jsonAnswer({ usage, total: figures(0.005, 0.015) }),
  );
  const { structuredContent } = await server.client.callTool({ name: 'get_usage', arguments: {} });
  expect(structuredContent).toMatchObject({ total: { usd: '0.005 to 0.015' }, usage: [{ usd: '0.005' }] });
});

test('list_readers reads all pages, and shows the least recently used readers first', async () => {
  const [reader] = operations.ListReaders.example.answer.readers;
  const readerAt = (minute: number) => ({
    ...reader,
    name: `reader ${minute}`,
    acknowledged_at: `2026-11-15T08:0${minute}:00.000Z`,
  });
  await using server = await connectInProcess(async (_, init) => {
    const { cursor } = JSON.parse(typeof init?.body === 'string' ? init.body : '{}');
    return jsonAnswer(
      cursor === 'second'
        ? { readers: [readerAt(1)], next_cursor: null }
        : { readers: [readerAt(2)], next_cursor: 'second' },
    );
  });
  const result = await server.client.callTool({ name: 'list_readers', arguments: {} });
  expect(result.structuredContent).toMatchObject({
    left_out: 0,
    readers: [{ name: 'reader 1' }, { name: 'reader 2' }],
  });
});

test('agents do not get fields that the API gains later', async () => {
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
    examples: { must_match: [{ text: 'untrusted content' }] },
    platforms: {},
  };
  await using server = await connectInProcess(async () => jsonAnswer(rule));
  const result = await server.client.callTool({ name: 'get_rule', arguments: { rule_id: 'rule_1' } });
  expect(result.structuredContent).toMatchObject({ id: 'rule_1', managed_by: 'alerts' });
  expect(JSON.stringify(result)).not.toContain('untrusted content');
});

test('a bug is reported, and the agent gets no details', async () => {
  // An answer that the API never gives.
  await using server = await connectInProcess(async () => jsonAnswer({ rules: 'secret-of-the-inside' }));
  const result = await server.client.callTool({ name: 'list_rules', arguments: {} });
  expect(result.isError).toBe(true);
  expect(JSON.stringify(result)).toContain('Earshot has an internal error');
  expect(JSON.stringify(result)).not.toMatch(/secret|TypeError|at .*\.ts/);
  expect(server.faults).toHaveLength(1);
});

test('a call that the client cancels is cancelled at the API', async () => {
  const received = Promise.withResolvers<AbortSignal>();
  await using server = await connectInProcess((_input, init) => {
    const { signal } = init ?? {};
    if (signal) received.resolve(signal);
    return new Promise((_resolve, reject) =>
      signal?.addEventListener('abort', () => reject(new Error('gone'))),
    );
  });
  const leaving = new AbortController();
  const call = server.client.callTool({ name: 'list_rules', arguments: {} }, { signal: leaving.signal });
  const signal = await received.promise;
  leaving.abort();
  await expect(call).rejects.toThrow(/abort/i);
  await expect.poll(() => signal.aborted).toBe(true);
});

test('get_coverage keeps the gaps of a long history, and counts the intervals that it leaves out', async () => {
  const at = (minute: number) =>
    new Date(Date.parse('2026-11-14T00:00:00.000Z') + minute * 60_000).toISOString();
  const interval = (state: string, minute: number, minutes = 1) => ({
    platform: 'x',
    state,
    from: at(minute),
    to: at(minute + minutes),
    reason: state === 'live' ? null : 'dropped',
    repair: null,
  });
  // One gap at the beginning, then 100 repaired gaps with live intervals between them.
  const gap = interval('gap', 0);
  const later = Array.from({ length: 100 }, (_, n) => [
    interval('live', 2 * n + 1),
    interval('repaired', 2 * n + 2),
  ]).flat();
  const answer = { from: at(0), to: at(300), complete_through: at(300) };
  const ask = async (intervals: object[]) => {
    await using server = await connectInProcess(async () => jsonAnswer({ ...answer, intervals }));
    const result = await server.client.callTool({ name: 'get_coverage', arguments: {} });
    return Object(result.structuredContent);
  };
  const shown = await ask([gap, ...later]);
  expect(shown).toMatchObject({ gaps: 1, left_out: { live: 100, repaired: 71 } });
  expect(shown.intervals).toHaveLength(30);
  expect(shown.intervals[0]).toEqual(gap);
  expect(shown.intervals.at(-1)).toEqual(later.at(-1));
  // The longest of too many gaps are kept.
  const long = interval('gap', 0, 30);
  const many = await ask([long, ...Array.from({ length: 40 }, (_, n) => interval('gap', 40 + 2 * n))]);
  expect(many).toMatchObject({ gaps: 41, left_out: { gap: 11 } });
  expect(many.intervals[0]).toEqual(long);
});

describe('an error of the API', () => {
  const refusing = (field: string, message: string): typeof fetch => {
    const details = { request_id: 'r', violations: [{ field, code: 'invalid_value', message }] };
    return async () =>
      jsonAnswer({ code: 'invalid_argument', message: `${field}: ${message}`, details }, 400);
  };

  test.each([
    { tool: 'wait_for_matches', args: { reader: 'r', ack: 'a' }, field: 'cursor', named: 'ack' },
    { tool: 'wait_for_matches', args: { reader: 'r' }, field: 'rule_id', named: 'rule_id' },
    { tool: 'list_matches', args: {}, field: 'from', named: 'from' },
    {
      tool: 'update_rule',
      args: { rule_id: 'r', budget: 'usd=5/day' },
      field: 'budget.usd',
      named: 'budget',
    },
    {
      tool: 'update_rule',
      args: { rule_id: 'r', overrides: { x: 'a' } },
      field: 'overrides.x',
      named: 'overrides.x',
    },
    { tool: 'update_rule', args: { rule_id: 'r' }, field: 'if_version', named: 'arguments' },
    { tool: 'get_usage', args: {}, field: 'platform', named: 'arguments' },
  ])('about $field names $named of $tool', async ({ tool, args, field, named }) => {
    await using server = await connectInProcess(refusing(field, `Not as "next_cursor" of an answer.`));
    const result = await server.client.callTool({ name: tool, arguments: args });
    const [block] = result.content;
    const lines = (block?.type === 'text' ? block.text : '').split('\n');
    expect(lines[1]).toMatch(new RegExp(`^${named}: error `));
    expect(lines[0]).not.toContain(`${field === named ? 'nothing' : field}:`);
    if (named === 'ack') expect(lines.join()).toContain('"ack" of an answer');
  });
});

describe('resume_rule', () => {
  const call = { name: 'resume_rule', arguments: { rule_id: 'rule_1', accept_estimate: true } };
  const refusingWith =
    (now: string, status = 200): typeof fetch =>
    async (input) => {
      const { pathname } = new URL(input instanceof Request ? input.url : input);
      if (pathname === '/api.GetRule')
        return jsonAnswer({ ...operations.GetRule.example.answer, state: now }, status);
      const details = { request_id: 'r', reason: 'not_paused' };
      return jsonAnswer({ code: 'failed_precondition', message: 'No.', details }, 400);
    };

  test('succeeds for a rule that is already active', async () => {
    await using server = await connectInProcess(refusingWith('active'));
    const result = await server.client.callTool(call);
    expect(result.isError ?? false).toBe(false);
    expect(result.structuredContent).toMatchObject({ state: 'active' });
  });

  test('fails if the rule is not active, or cannot be read', async () => {
    for (const api of [refusingWith('paused'), refusingWith('active', 403)]) {
      await using server = await connectInProcess(api);
      expect((await server.client.callTool(call)).isError).toBe(true);
    }
  });
});

test('the text of an answer has one field per line, and a value cannot imitate a field', () => {
  const written = writeReadable({
    id: 'rule_1',
    intent: 'a\nstate: paused',
    expires_at: null,
    left_out: {},
    platforms: { x: { status: 'active', value: 'cats OR dogs' } },
    intervals: [{ state: 'gap', to: null, repair: { via: 'search' } }, 'and 3 more'],
  });
  expect(written.split('\n')).toEqual([
    'id: rule_1',
    'intent: "a\\nstate: paused"',
    'expires_at: none',
    'left_out: none',
    'platforms:',
    '  x:',
    '    status: active',
    '    value: "cats OR dogs"',
    'intervals:',
    '  - state gap, repair (via search)',
    '  - "and 3 more"',
  ]);
});

test('draft_rule has the intent, and names the tools of the loop in their order', async () => {
  await using server = await connectInProcess(noRequest);
  const args = { name: 'draft_rule', arguments: { intent: 'Rust, not the game' } };
  const { messages } = await server.client.getPrompt(args);
  const [content] = messages.map((message) => message.content);
  const text = content?.type === 'text' ? content.text : '';
  expect(text).toContain('\nRust, not the game\n');
  expect(text).toContain('what to ignore');
  const tools = [...new Set(text.match(/[a-z]+_[a-z]+/g))];
  expect(tools).toEqual(['platform_syntax', 'validate_rule', 'preview_rule', 'create_rule']);
});
