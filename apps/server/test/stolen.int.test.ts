import { execFile } from 'node:child_process';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { scopes } from '@earshot/contract';
import type { Template, TestDatabase } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createConsoleSessions } from '../src/accounts/console-sessions.ts';
import { openAdmin } from '../src/admin.ts';
import { type Database, openDatabase } from '../src/engines/database.ts';
import { findWideRights } from '../src/engines/installation.ts';
import { migrate } from '../src/engines/migrate.ts';
import { createSecretBox, newSecret } from '../src/webhooks/secrets.ts';
import { testLimits } from './call-of.ts';
import { createMigratedTemplate, openTestDatabase } from './support.ts';

/* What a thief can and cannot do: the table in SECURITY.md, line by line. */

let template: Template;
let clone: TestDatabase;
let accountId: string;
let key: string;
let tokens: readonly string[];
const secret = newSecret();
const secretsKey = Buffer.alloc(32, 7);

beforeAll(async () => {
  template = await createMigratedTemplate();
  clone = await template.clone();
  await using admin = await openAdmin(clone.urls.runtime);
  ({ accountId } = await admin.createAccount({ name: 'Victim' }));
  const created = await admin.createKey({ accountId, scopes });
  key = created?.key ?? '';
  await using database = openTestDatabase(clone.url);
  const sessions = createConsoleSessions({ database, guesses: { failed: () => null } });
  const victim = {
    accountId,
    keyId: created?.keyId ?? '',
    plan: 'paid',
    limits: testLimits,
    scopes,
  } as const;
  const link = await sessions.createLink(victim);
  const signedIn = await sessions.signInWithKey(victim, { formerTokens: [], requestId: 'req_1' });
  tokens = [link.code, signedIn?.token ?? ''];
  const sealed = createSecretBox(secretsKey).seal('whk_1', secret);
  await database.run(
    `insert into webhooks (id, account_id, name, url, state, position, batch_max, next_attempt_at, secret)
     values ('whk_1', $1, 'n', 'https://hooks.example/', 'active', 0, 1, now(), $2)`,
    [accountId, sealed],
  );
  const day = "(now() at time zone 'UTC')::date";
  await database.run(
    `insert into posts (platform, event_key, event_day, platform_post_id, payload)
     values ('x', 'k', ${day}, 'p', '{"text":"as it was"}')`,
  );
  await database.run(
    `insert into matches (position, account_id, rule_id, rule_version, platform, event_key, event_day)
     values (1, $1, 'rule_1', 1, 'x', 'k', ${day})`,
    [accountId],
  );
});
afterAll(async () => {
  await clone?.[Symbol.asyncDispose]();
  await template?.[Symbol.asyncDispose]();
});

describe('a stolen backup', () => {
  let dump: string;
  beforeAll(async () => {
    const { stdout } = await promisify(execFile)('pg_dump', [clone.urls.owner], {
      maxBuffer: 64 * 1024 ** 2,
    });
    dump = stdout;
  });

  test('contains no API key: only a hash of 190 random bits, and the start that ListKeys shows', () => {
    expect(key.length).toBeGreaterThan(30);
    const shown = key.slice(0, 8);
    // Every substring of the key that is longer than what is shown: text, hex and base64 of it.
    for (let at = 0; at + 12 <= key.length; at++) {
      const part = key.slice(at, at + 12);
      for (const encoding of ['utf8', 'hex', 'base64'] as const)
        expect(dump).not.toContain(Buffer.from(part).toString(encoding));
    }
    expect(dump).toContain(shown);
  });

  test('contains no console session: only a hash of 256 random bits', () => {
    expect(dump).toMatch(/^COPY public\.console_sessions .*\nses_/m);
    for (const token of tokens) {
      const raw = Buffer.from(token, 'base64url');
      expect(raw).toHaveLength(32);
      for (const text of [token, raw.toString('hex'), raw.toString('base64')])
        expect(dump).not.toContain(text);
    }
  });

  test('contains no webhook secret that is readable without EARSHOT_SECRETS_KEY', () => {
    const raw = Buffer.from(secret.replace('whsec_', ''), 'base64');
    for (const text of [secret, raw.toString('hex'), raw.toString('base64'), secretsKey.toString('hex')])
      expect(dump).not.toContain(text);
    const [, sealed = ''] = /^COPY public\.webhooks [^]*?(\\\\x[0-9a-f]+)/m.exec(dump) ?? [];
    const bytes = Buffer.from(sealed.replace('\\\\x', ''), 'hex');
    expect(createSecretBox(secretsKey).open('whk_1', bytes)).toBe(secret);
    expect(() => createSecretBox(Buffer.alloc(32, 8)).open('whk_1', bytes)).toThrow(
      /authenticate|decrypt|secret/i,
    );
  });

  test('contains no database password', () => {
    expect(dump).not.toMatch(/SCRAM-SHA-256|PASSWORD '/);
    for (const url of Object.values(clone.urls)) expect(dump).not.toContain(new URL(url).password);
  });
});

describe("the runtime login's password", () => {
  let thief: Database;
  beforeAll(() => {
    thief = openTestDatabase(clone.urls.runtime, 2);
  });
  afterAll(() => thief?.[Symbol.asyncDispose]());

  test('gives no superuser, no owner, and no bypass of row security', async () => {
    const role = await thief.one(
      `select rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls from pg_roles where rolname = current_user`,
    );
    expect(new Set(Object.values(role ?? {}))).toEqual(new Set([false]));
    expect(await thief.many(`select 1 from pg_class where relowner = current_user::regrole`)).toEqual([]);
    expect(await findWideRights(thief, true)).toEqual([]);
  });

  test.for([
    ['executes programs', `copy (select 1) to program 'id'`],
    ['reads files', `copy leases from '/etc/passwd'`],
    ['reads files', `select pg_read_file('/etc/passwd')`],
    ['writes files', `copy (select 1) to '/tmp/earshot-stolen'`],
    ['reads passwords', 'select rolpassword from pg_authid'],
    ['creates roles', 'create role thief'],
    ['becomes the owner', 'set role earshot_owner'],
    ['becomes the owner', 'grant earshot_owner to earshot_runtime'],
    ['creates tables', 'create table kept (a integer)'],
    ['creates functions', `create function f() returns integer language sql as 'select 1'`],
    ['drops tables', 'drop table audit'],
    [
      'drops partitions of matches',
      `do $$ begin execute 'drop table ' || (
      select inhrelid::regclass from pg_inherits where inhparent = 'matches'::regclass limit 1); end $$`,
    ],
    ['alters tables', 'alter table audit disable trigger audit_append_only'],
    ['switches row security off', 'alter table rules disable row level security'],
    ['switches triggers off', `set session_replication_role = 'replica'`],
    ['empties tables', 'truncate matches'],
    ['empties tables', 'truncate rules cascade'],
    ['changes the audit', `update audit set actor = 'attacker'`],
    ['removes from the audit', 'delete from audit'],
    ['changes a post', `update posts set payload = '{}'`],
    ['removes posts', 'delete from posts'],
    ['changes when a match was stored', 'update matches set created_at = now()'],
    ['removes coverage', 'delete from coverage'],
    ['removes coverage', 'delete from watches'],
    ['widens a key', `update api_keys set scopes = '{keys:write}'`],
    ['replaces a key', `update api_keys set hash = 'x'`],
    ['gives a session to another key', `update console_sessions set key_id = 'x'`],
    ['replaces a session', `update console_sessions set hash = 'x'`],
    ['prolongs a session', 'update console_sessions set created_at = now()'],
    ['gives a token to another key', `update oauth_artefacts set grant_id = 'x'`],
    ['replaces a token', `update oauth_artefacts set hash = 'x'`],
    ['prolongs a link', 'update console_links set created_at = now()'],
    ['changes a plan', `update accounts set plan = 'paid'`],
    ['deletes the audit of an account', `insert into deleted_accounts (account_id) values ('acc_1')`],
    ['ends a suspension', 'update accounts set suspended_at = null'],
    ['raises a limit', `update accounts set limits = '{}'`],
    ['raises a limit of a plan', 'update plans set rules = 1000000'],
    ['changes the secret of cursors', `update installation set cursor_secret = 'x'`],
    ['fakes a migration', `insert into migrations (name) values ('x')`],
  ] as const)('never %s: %s', async ([, statement]) => {
    await expect(thief.run(statement)).rejects.toMatchObject({ code: '42501' });
  });

  test('gives no access to other databases of the server', async () => {
    for (const name of ['postgres', 'template1']) {
      const url = new URL(clone.urls.runtime);
      url.pathname = name;
      await using other = openDatabase({ url: url.href, connectionsMax: 1, onIdleError: () => undefined });
      await expect(other.one('select 1')).rejects.toMatchObject({ code: '42501' });
    }
  });
});

test('gives every right that a statement of the server needs', async () => {
  await using database = openTestDatabase(clone.urls.runtime, 1);
  const needed = new Set<string>();
  const src = join(import.meta.dirname, '../src');
  for await (const file of glob('**/*.ts', { cwd: src })) {
    if (file.includes('.test.')) continue;
    const text = await readFile(join(src, file), 'utf8');
    for (const [, verb, table] of text
      .matchAll(/\b(insert) into ([a-z_]+)|\b(delete) from ([a-z_]+)/g)
      .map((found) => found.filter(Boolean)))
      needed.add(`${verb} ${table}`);
    for (const [, table] of text.matchAll(/\bupdate ([a-z_]+) (?:as \w+ )?set\b/g))
      needed.add(`update ${table}`);
  }
  expect(needed.size).toBeGreaterThan(40);
  const missing: string[] = [];
  for (const need of needed) {
    const [verb = '', table = ''] = need.split(' ');
    const check = verb === 'delete' ? 'has_table_privilege' : 'has_any_column_privilege';
    const row = await database.one<{ may: boolean }>(`select ${check}($1, $2) as may`, [table, verb]);
    if (!row?.may) missing.push(need);
  }
  // The owner migrates, separates copies, deletes accounts, and removes expired and withdrawn data.
  expect(missing.toSorted()).toEqual([
    'delete accounts',
    'delete budget_marks',
    'delete coverage',
    'delete match_times',
    'delete notices',
    'delete posts',
    'delete removals',
    'delete repair_spending',
    'insert deleted_accounts',
    'insert migrations',
    'insert removed_matches',
    'update deleted_accounts',
    'update installation',
    'update plans',
    'update upstream_calls',
  ]);
});

test('a login that may not migrate reports that, and accepts a complete database', async () => {
  expect(await migrate(clone.urls.runtime)).toEqual([]);
  await using database = openTestDatabase(clone.url, 1);
  await database.run(`delete from migrations where name like '0005%'`);
  await expect(migrate(clone.urls.runtime)).rejects.toThrow('EARSHOT_MIGRATION_DATABASE_URL');
});

test('a superuser, an owner, and one login for everything are reported to the operator', async () => {
  const warningsFor = async (url: string, hasAccountLogin: boolean) => {
    await using database = openTestDatabase(url, 1);
    return await findWideRights(database, hasAccountLogin);
  };
  expect(await warningsFor(clone.urls.superuser, true)).toEqual([expect.stringContaining('a superuser')]);
  expect(await warningsFor(clone.urls.owner, false)).toEqual([
    expect.stringContaining('who owns the tables'),
    expect.stringContaining('EARSHOT_ACCOUNT_DATABASE_URL'),
  ]);
});
