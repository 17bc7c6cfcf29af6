import { type OperationId, operations, type Scope, scopes } from '@earshot/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { overHttp, startAgent } from './src/mcp-agent.ts';
import { shareWorld } from './src/shared-world.ts';
import type { Account, ServerUnderTest, World } from './src/world.ts';

interface Row {
  /** The scope that the key needs; null if any valid key may call. */
  readonly scope: Scope | null;
  readonly request: object;
  /** The answer to a key with only that scope. */
  readonly allowed: number | string;
  /** If it also needs others: the answer to a key with all scopes is `allowed`, and this to one with only that scope. */
  readonly alone?: number | string;
}

const rule = { rule_id: `rule_${'0'.repeat(26)}` };
const anHour = { from: '2026-11-14T20:00:00Z', to: '2026-11-14T21:00:00Z' };
const digest = { digest_id: `dig_${'0'.repeat(26)}` };
const webhook = { webhook_id: `whk_${'0'.repeat(26)}` };
const newRule = { name: 'a', intent: 'b', platforms: ['x'] };

/**
 * The intended scope of each operation, independent of the contract, so that a wrong line there is noticed. The requests
 * are real. Where they would change something, they name unknown resources or request the impossible.
 */
const overHttpRows: Readonly<Record<OperationId, Row>> = {
  CreateRule: { scope: 'rules:write', request: { ...newRule, overrides: { x: 'scoped' } }, allowed: 200 },
  ListRules: { scope: 'rules:read', request: { limit: '1' }, allowed: 200 },
  GetRule: { scope: 'rules:read', request: rule, allowed: 404 },
  UpdateRule: { scope: 'rules:write', request: { ...rule, name: 'other' }, allowed: 404 },
  PauseRule: { scope: 'rules:write', request: rule, allowed: 404 },
  ResumeRule: { scope: 'rules:write', request: rule, allowed: 404 },
  DeleteRule: { scope: 'rules:write', request: rule, allowed: 404 },
  PreviewRule: {
    scope: 'rules:read',
    request: { platforms: ['x'], overrides: { x: 'scoped' } },
    allowed: 200,
  },
  ValidateRule: {
    scope: 'rules:read',
    request: { platforms: ['x'], overrides: { x: 'scoped' } },
    allowed: 200,
  },
  PlatformSyntax: { scope: null, request: {}, allowed: 200 },
  ListMatches: { scope: 'matches:read', request: {}, allowed: 200 },
  StreamMatches: { scope: 'matches:read', request: rule, allowed: 404 },
  LabelMatches: {
    scope: 'matches:label',
    request: { match_ids: ['mat_000000000000'], label: 'relevant' },
    allowed: 404,
  },
  ListLabels: { scope: 'matches:read', request: {}, allowed: 200 },
  MuteMatches: { scope: 'matches:label', request: { ...rule, author: 'ferris' }, allowed: 404 },
  ListMutes: { scope: 'matches:read', request: {}, allowed: 200 },
  GetRelevance: { scope: 'matches:read', request: rule, allowed: 404 },
  DeleteMute: { scope: 'matches:label', request: { mute_id: 'mut_0' }, allowed: 404 },
  ListNotices: { scope: 'matches:read', request: {}, allowed: 200 },
  StreamNotices: { scope: 'matches:read', request: { cursor: 'cAAAA' }, allowed: 400 },
  GetCoverage: { scope: 'matches:read', request: rule, allowed: 404 },
  GetUsage: { scope: 'matches:read', request: rule, allowed: 404 },
  GetMatch: { scope: 'matches:read', request: { match_id: 'mat_000000000000' }, allowed: 404 },
  CountMatches: { scope: 'matches:read', request: { ...rule, ...anHour, step: 60 }, allowed: 404 },
  ExportMatches: { scope: 'matches:read', request: { ...rule, format: 'csv' }, allowed: 404 },
  ReadMatches: { scope: 'matches:read', request: { reader: 'scoped', start: 'now' }, allowed: 200 },
  AckMatches: { scope: 'matches:read', request: { reader: 'scoped', cursor: 'cAAAA' }, allowed: 400 },
  ListReaders: { scope: 'matches:read', request: {}, allowed: 200 },
  DeleteReader: { scope: 'readers:write', request: { reader: 'unknown' }, allowed: 404 },
  CreateKey: { scope: 'keys:write', request: { expires_at: '2020-01-01T00:00:00.000Z' }, allowed: 400 },
  ListSources: { scope: 'rules:read', request: {}, allowed: 200 },
  WhoAmI: { scope: null, request: {}, allowed: 200 },
  ListKeys: { scope: 'keys:write', request: {}, allowed: 200 },
  RevokeKey: { scope: 'keys:write', request: { key_id: `key_${'0'.repeat(26)}` }, allowed: 404 },
  ListAudit: { scope: 'audit:read', request: {}, allowed: 200 },
  CreateWebhook: { scope: 'webhooks:write', request: { name: 'a', url: 'http://a.test/' }, allowed: 400 },
  CreateArchive: {
    scope: 'webhooks:write',
    request: {
      name: 'a',
      endpoint: 'http://a.test/',
      region: 'a',
      bucket: 'abc',
      prefix: 'p',
      access_key_id: 'a',
      secret_access_key: 'b',
    },
    allowed: 400,
  },
  ListArchives: { scope: 'webhooks:read', request: {}, allowed: 200 },
  DeleteArchive: { scope: 'webhooks:write', request: { archive_id: `arc_${'0'.repeat(26)}` }, allowed: 404 },
  CreateDigest: {
    scope: 'webhooks:write',
    request: { name: 'a', schedule: { window_seconds: 60 }, recipients: webhook },
    allowed: 404,
  },
  ListDigests: { scope: 'webhooks:read', request: {}, allowed: 200 },
  UpdateDigest: { scope: 'webhooks:write', request: { ...digest, empty: 'skip' }, allowed: 404 },
  DeleteDigest: { scope: 'webhooks:write', request: digest, allowed: 404 },
  // Its URL reads matches, so its key must have that scope too.
  CreateFeed: {
    scope: 'keys:write',
    request: { name: 'a', rule_ids: [rule.rule_id] },
    allowed: 404,
    alone: 'lacks matches:read',
  },
  ListFeeds: { scope: 'matches:read', request: {}, allowed: 200 },
  DeleteFeed: { scope: 'keys:write', request: { feed_id: `feed_${'0'.repeat(26)}` }, allowed: 404 },
  ListWebhooks: { scope: 'webhooks:read', request: {}, allowed: 200 },
  UpdateWebhook: { scope: 'webhooks:write', request: { ...webhook, state: 'paused' }, allowed: 404 },
  DeleteWebhook: { scope: 'webhooks:write', request: webhook, allowed: 404 },
  // This server has no EARSHOT_SECRETS_KEY.
  RotateWebhookSecret: { scope: 'webhooks:write', request: webhook, allowed: 400 },
  TestWebhook: { scope: 'webhooks:write', request: webhook, allowed: 404 },
  ListDeliveries: { scope: 'webhooks:read', request: webhook, allowed: 404 },
  ReplayWebhook: {
    scope: 'webhooks:write',
    request: { ...webhook, from: '2026-01-01T00:00:00.000Z' },
    allowed: 404,
  },
};

/** The same for the tools of `/mcp`. */
const overMcpRows: Readonly<Record<string, Row>> = {
  platform_syntax: { scope: null, request: {}, allowed: 'answered' },
  validate_rule: {
    scope: 'rules:read',
    request: { platforms: ['x'], overrides: { x: 'scoped' } },
    allowed: 'answered',
  },
  preview_rule: {
    scope: 'rules:read',
    request: { platforms: ['x'], overrides: { x: 'scoped' } },
    allowed: 'answered',
  },
  create_rule: {
    scope: 'rules:write',
    request: { ...newRule, overrides: { x: 'scoped' }, allow_equivalent: true },
    allowed: 'answered',
  },
  wait_for_matches: {
    scope: 'matches:read',
    request: { reader: 'scoped-tool', start: 'now', wait_seconds: 0 },
    allowed: 'answered',
  },
  list_matches: { scope: 'matches:read', request: {}, allowed: 'answered' },
  count_matches: { scope: 'matches:read', request: {}, allowed: 'answered' },
  label_matches: {
    scope: 'matches:label',
    request: { match_ids: ['mat_000000000000'], label: 'relevant' },
    allowed: 'not_found',
  },
  list_readers: { scope: 'matches:read', request: {}, allowed: 'answered' },
  delete_reader: { scope: 'readers:write', request: { reader: 'unknown' }, allowed: 'not_found' },
  list_rules: { scope: 'rules:read', request: {}, allowed: 'answered' },
  get_rule: { scope: 'rules:read', request: rule, allowed: 'not_found' },
  update_rule: { scope: 'rules:write', request: { ...rule, name: 'other' }, allowed: 'not_found' },
  pause_rule: { scope: 'rules:write', request: rule, allowed: 'not_found' },
  resume_rule: { scope: 'rules:write', request: rule, allowed: 'not_found' },
  delete_rule: { scope: 'rules:write', request: rule, allowed: 'not_found' },
  notify_by: {
    scope: 'webhooks:write',
    request: { ...rule, destination: 'unknown' },
    allowed: 'invalid_argument',
    // It also lists the destinations.
    alone: 'permission_denied',
  },
  get_coverage: { scope: 'matches:read', request: rule, allowed: 'not_found' },
  get_usage: { scope: 'matches:read', request: rule, allowed: 'not_found' },
  list_notices: { scope: 'matches:read', request: {}, allowed: 'answered' },
};

let world: World;
let server: ServerUnderTest;
/** One key per scope, one without scopes, and one with all. */
const keyNames = [...scopes, 'none', 'all'] as const;
let keys: Readonly<Record<string, Account>>;

beforeAll(async () => {
  world = await shareWorld();
  server = await world.startServer();
  const account = await world.newAccount();
  const made = keyNames.map(async (name) => {
    const granted = scopes.filter((scope) => name === 'all' || name === scope);
    const created = await world.admin.createKey({ accountId: account.accountId, scopes: granted });
    if (!created) throw new Error('the account is gone');
    return [name, { ...account, ...created }] as const;
  });
  keys = Object.fromEntries(await Promise.all(made));
});
afterAll(() => world?.[Symbol.asyncDispose]());

const keyOf = (name: string): Account => {
  const key = keys[name];
  if (!key) throw new Error(`there is no key ${name}`);
  return key;
};

const expectedOf = ({ scope, allowed, alone = allowed }: Row) =>
  Object.fromEntries(
    keyNames.map((name) => [
      name,
      scope === null || name === 'all' ? allowed : name === scope ? alone : `lacks ${scope}`,
    ]),
  );

async function askWith(name: string, id: OperationId): Promise<number | string> {
  const { method, path } = operations[id];
  const { request } = overHttpRows[id];
  const query = new URLSearchParams(Object.entries(request)).toString();
  const api = server.api(keyOf(name));
  const { status, json } =
    method === 'GET' ? await api.call('GET', `${path}?${query}`) : await api.call('POST', path, request);
  return status === 403 ? `lacks ${Object(json).details?.required_scope}` : status;
}

test.each(Object.values(operations).map(({ id, method, path }) => ({ id, method, path })))(
  '$method $path accepts only keys with its scope',
  async ({ id }) => {
    const answered = await Promise.all(
      keyNames.map(async (name) => [name, await askWith(name, id)] as const),
    );
    expect(Object.fromEntries(answered)).toEqual(expectedOf(overHttpRows[id]));
  },
);

test('every tool of /mcp is listed for and accepts only keys with its scope', async () => {
  const answered: Record<string, Record<string, string>> = {};
  const callAll = async (name: string) => {
    await using agent = await startAgent(overHttp({ url: server.url, key: keyOf(name).key }));
    const listed = new Set(agent.tools.map((tool) => tool.name));
    for (const [tool, { request, scope }] of Object.entries(overMcpRows)) {
      const row = (answered[tool] ??= {});
      if (listed.has(tool)) {
        row[name] = (await agent.callRaw(tool, request)).refusal?.code ?? 'answered';
      } else {
        const call = agent.client.callTool({ name: tool, arguments: { ...request } });
        await expect(call).rejects.toThrow(`Tool ${tool} not found`);
        row[name] = `lacks ${scope}`;
      }
    }
  };
  await Promise.all(keyNames.map(callAll));
  const expected = Object.entries(overMcpRows).map(([tool, row]) => [tool, expectedOf(row)] as const);
  expect(answered).toEqual(Object.fromEntries(expected));
});

test('AckMatches with `rewind` also needs readers:write', async () => {
  const request = { reader: 'scoped', cursor: 'cAAAA', rewind: true };
  const answers = keyNames.map(async (name) => {
    const { status, json } = await server.api(keyOf(name)).call('POST', '/api.AckMatches', request);
    return [name, status === 403 ? `lacks ${Object(json).details?.required_scope}` : status] as const;
  });
  expect(Object.fromEntries(await Promise.all(answers))).toEqual(
    Object.fromEntries(
      keyNames.map((name) => {
        if (name === 'all') return [name, 400];
        return [name, `lacks ${name === 'matches:read' ? 'readers:write' : 'matches:read'}`];
      }),
    ),
  );
});
