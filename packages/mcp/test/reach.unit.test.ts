import { type OperationId, operations } from '@earshot/contract';
import { describe, expect, test } from 'vitest';
import { connectInProcess, jsonAnswer } from './in-process.ts';

const rows = Object.values(operations);
const { name, intent, platforms, overrides } = operations.CreateRule.example.request;
const { request: oneRule } = operations.GetRule.example;
const [match] = operations.ListMatches.example.answer.matches;
const reading = { reader: 'r', ack: 'a', wait_seconds: 0, ...oneRule };

/** Each tool, in every way in which it asks for something else, and all that it may ask for. */
const calls: ReadonlyArray<{ tool: string; args: object; asks: OperationId[]; silent?: boolean }> = [
  { tool: 'platform_syntax', args: {}, asks: ['PlatformSyntax'] },
  { tool: 'validate_rule', args: operations.ValidateRule.example.request, asks: ['ValidateRule'] },
  { tool: 'preview_rule', args: operations.PreviewRule.example.request, asks: ['PreviewRule'] },
  { tool: 'create_rule', args: { name, intent, platforms, overrides }, asks: ['PreviewRule', 'CreateRule'] },
  {
    tool: 'create_rule',
    args: { name, intent, platforms, overrides, accept_estimate: true },
    asks: ['CreateRule'],
  },
  { tool: 'wait_for_matches', args: reading, asks: ['AckMatches', 'ReadMatches', 'GetRule'] },
  { tool: 'wait_for_matches', args: reading, asks: ['AckMatches', 'ReadMatches', 'GetRule'], silent: true },
  { tool: 'wait_for_matches', args: { reader: 'r', expand: [match?.id] }, asks: ['ReadMatches'] },
  { tool: 'list_matches', args: {}, asks: ['ListMatches', 'GetRule'] },
  { tool: 'list_matches', args: { expand: [match?.id] }, asks: ['ListMatches'] },
  { tool: 'list_matches', args: {}, asks: ['ListMatches', 'ListRules'], silent: true },
  { tool: 'list_matches', args: oneRule, asks: ['ListMatches', 'GetRule'], silent: true },
  { tool: 'list_readers', args: {}, asks: ['ListReaders'] },
  { tool: 'delete_reader', args: { reader: 'r' }, asks: ['DeleteReader'] },
  { tool: 'list_rules', args: {}, asks: ['ListRules'] },
  { tool: 'get_rule', args: oneRule, asks: ['GetRule'] },
  { tool: 'update_rule', args: { ...oneRule, name: 'Another' }, asks: ['UpdateRule'] },
  { tool: 'pause_rule', args: oneRule, asks: ['PauseRule'] },
  { tool: 'resume_rule', args: oneRule, asks: ['GetRule', 'ResumeRule'] },
  { tool: 'delete_rule', args: oneRule, asks: ['DeleteRule'] },
  { tool: 'get_coverage', args: oneRule, asks: ['GetCoverage'] },
  { tool: 'get_usage', args: oneRule, asks: ['GetUsage'] },
  { tool: 'list_notices', args: {}, asks: ['ListNotices'] },
];

describe('what tools reach', () => {
  test.each(calls)('$tool asks for nothing but $asks', async ({ tool, args, asks, silent = false }) => {
    const asked = new Set<string>();
    await using server = await connectInProcess(async (input) => {
      const { pathname } = new URL(input instanceof Request ? input.url : input);
      const operation = rows.find(({ path }) => path === pathname);
      asked.add(operation?.id ?? pathname);
      const answer = operation?.example.answer ?? {};
      return jsonAnswer(silent && 'matches' in answer ? { ...answer, matches: [] } : answer);
    });
    const result = await server.client.callTool({ name: tool, arguments: { ...args } });
    expect(result.isError ? result.content : []).toEqual([]);
    expect([...asked].toSorted()).toEqual(asks.toSorted());
  });

  test('is every tool of the list, and no operation that sends data out or makes keys', async () => {
    await using server = await connectInProcess(() => Promise.reject(new Error('nothing is to be asked')));
    const { tools } = await server.client.listTools();
    expect(new Set(calls.map(({ tool }) => tool))).toEqual(new Set(tools.map(({ name }) => name)));
    const reached = new Set(calls.flatMap(({ asks }) => asks));
    const scopes = rows.filter(({ id }) => reached.has(id)).map(({ scope }) => scope);
    expect(new Set(scopes)).toEqual(
      new Set([null, 'rules:read', 'rules:write', 'matches:read', 'readers:write']),
    );
  });

  test('needs, where it would send data out, a scope that nothing else asks for', () => {
    const sending = rows.filter(
      ({ id }) => /Webhook|Deliver|Secret|Digest/.test(id) && !/^(List|Get)/.test(id),
    );
    const scoped = rows.filter(({ scope }) => scope === 'webhooks:write');
    expect(scoped.length).toBeGreaterThan(3);
    expect(scoped.map(({ id }) => id)).toEqual(sending.map(({ id }) => id));
  });
});
