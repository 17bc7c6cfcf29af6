import { type OperationId, operations } from '@earshot/contract';
import { describe, expect, test } from 'vitest';
import { connectInProcess, jsonAnswer } from './in-process.ts';

const rows = Object.values(operations);
const { name, intent, platforms, overrides } = operations.CreateRule.example.request;
const { request: oneRule } = operations.GetRule.example;
const [match] = operations.ListMatches.example.answer.matches;
const [webhook] = operations.ListWebhooks.example.answer.webhooks;
const [digest] = operations.ListDigests.example.answer.digests;
const listing = ['ListWebhooks', 'ListDigests', 'GetRule'] as const;
const reading = { reader: 'r', ack: 'a', wait_seconds: 0, ...oneRule };

/** Each tool, with arguments that lead to different requests, and the operations that it may call. */
const calls: ReadonlyArray<{ tool: string; args: object; reaches: OperationId[]; silent?: boolean }> = [
  { tool: 'platform_syntax', args: {}, reaches: ['PlatformSyntax'] },
  { tool: 'validate_rule', args: operations.ValidateRule.example.request, reaches: ['ValidateRule'] },
  { tool: 'preview_rule', args: operations.PreviewRule.example.request, reaches: ['PreviewRule'] },
  {
    tool: 'create_rule',
    args: { name, intent, platforms, overrides },
    reaches: ['PreviewRule', 'CreateRule'],
  },
  {
    tool: 'create_rule',
    args: { name, intent, platforms, overrides, accept_estimate: true },
    reaches: ['CreateRule'],
  },
  { tool: 'wait_for_matches', args: reading, reaches: ['AckMatches', 'ReadMatches', 'GetRule'] },
  {
    tool: 'wait_for_matches',
    args: reading,
    reaches: ['AckMatches', 'ReadMatches', 'GetRule'],
    silent: true,
  },
  {
    tool: 'wait_for_matches',
    args: { reader: 'r', wait_seconds: 0 },
    reaches: ['ReadMatches', 'ListRules', 'ListReaders'],
    silent: true,
  },
  { tool: 'wait_for_matches', args: { reader: 'r', expand: [match?.id] }, reaches: ['ReadMatches'] },
  { tool: 'list_matches', args: {}, reaches: ['ListMatches', 'GetRule'] },
  { tool: 'list_matches', args: { expand: [match?.id] }, reaches: ['ListMatches'] },
  { tool: 'list_matches', args: {}, reaches: ['ListMatches', 'ListRules'], silent: true },
  { tool: 'list_matches', args: oneRule, reaches: ['ListMatches', 'GetRule'], silent: true },
  { tool: 'count_matches', args: {}, reaches: ['CountMatches'] },
  {
    tool: 'label_matches',
    args: { match_ids: [match?.id], label: 'relevant' },
    reaches: ['LabelMatches'],
  },
  { tool: 'list_readers', args: {}, reaches: ['ListReaders'] },
  { tool: 'delete_reader', args: { reader: 'r' }, reaches: ['DeleteReader'] },
  { tool: 'list_rules', args: {}, reaches: ['ListRules'] },
  { tool: 'get_rule', args: oneRule, reaches: ['GetRule'] },
  { tool: 'update_rule', args: { ...oneRule, name: 'Another' }, reaches: ['UpdateRule'] },
  { tool: 'pause_rule', args: oneRule, reaches: ['PauseRule'] },
  { tool: 'resume_rule', args: oneRule, reaches: ['GetRule', 'ResumeRule'] },
  { tool: 'delete_rule', args: oneRule, reaches: ['DeleteRule'] },
  { tool: 'notify_by', args: { ...oneRule, destination: digest?.id }, reaches: [...listing] },
  {
    tool: 'notify_by',
    args: { rule_id: 'rule_other', destination: webhook?.id },
    reaches: [...listing, 'UpdateWebhook'],
  },
  { tool: 'get_coverage', args: oneRule, reaches: ['GetCoverage'] },
  { tool: 'get_usage', args: oneRule, reaches: ['GetUsage'] },
  { tool: 'list_notices', args: {}, reaches: ['ListNotices'] },
];

describe('the operations that tools call', () => {
  test.each(calls)('$tool calls only $reaches', async ({ tool, args, reaches, silent = false }) => {
    const called = new Set<string>();
    await using server = await connectInProcess(async (input) => {
      const { pathname } = new URL(input instanceof Request ? input.url : input);
      const operation = rows.find(({ path }) => path === pathname);
      called.add(operation?.id ?? pathname);
      const answer = operation?.example.answer ?? {};
      return jsonAnswer(silent && 'matches' in answer ? { ...answer, matches: [] } : answer);
    });
    const result = await server.client.callTool({ name: tool, arguments: { ...args } });
    expect(result.isError ? result.content : []).toEqual([]);
    expect([...called].toSorted()).toEqual(reaches.toSorted());
  });

  test('cover every tool, and do not create keys or destinations', async () => {
    await using server = await connectInProcess(() => Promise.reject(new Error('no request expected')));
    const { tools } = await server.client.listTools();
    expect(new Set(calls.map(({ tool }) => tool))).toEqual(new Set(tools.map(({ name }) => name)));
    const reached = new Set(calls.flatMap(({ reaches }) => reaches));
    const scopes = rows.filter(({ id }) => reached.has(id)).map(({ scope }) => scope);
    expect(new Set(scopes)).toEqual(
      new Set([
        null,
        'rules:read',
        'rules:write',
        'matches:read',
        'matches:label',
        'readers:write',
        'webhooks:read',
        'webhooks:write',
      ]),
    );
    const sending = rows.filter(({ id, scope }) => reached.has(id) && scope === 'webhooks:write');
    expect(sending.map(({ id }) => id)).toEqual(['UpdateWebhook']);
  });

  test('send data out only with webhooks:write', () => {
    const sending = rows.filter(
      ({ id }) => /Webhook|Deliver|Secret|Digest|Archive/.test(id) && !/^(List|Get)/.test(id),
    );
    const scoped = rows.filter(({ scope }) => scope === 'webhooks:write');
    expect(scoped.length).toBeGreaterThan(3);
    expect(scoped.map(({ id }) => id)).toEqual(sending.map(({ id }) => id));
  });
});
