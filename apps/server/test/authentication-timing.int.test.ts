import { formatKey, isWellFormedKey } from '@earshot/contract';
import { testNightly } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAuthenticate, createKeyGuesses, createKeyLookup } from '../src/accounts/authenticate.ts';
import { hashOf, newKey } from '../src/accounts/keys.ts';
import type { Database } from '../src/engines/database.ts';
import { createMigratedTemplate, openTestDatabase } from './support.ts';

/** What a caller must not be able to tell apart by how long, or how much, the server works on it. */
const kinds = ['unknown', 'revoked', 'expired', 'almost right'] as const;
type Kind = (typeof kinds)[number];

const samples = 300;
/**
 * How far the share of pairs in which one kind is slower than "unknown" may be from one half. By chance alone it varies by
 * 0.024 (one standard deviation of this many samples), so five of those.
 */
const shareOffMax = 0.12;

let opened: AsyncDisposableStack;
let database: Database;
const keys: Record<Kind | 'valid', string[]> = {
  valid: [],
  unknown: [],
  revoked: [],
  expired: [],
  'almost right': [],
};

beforeAll(async () => {
  await using stack = new AsyncDisposableStack();
  const template = stack.use(await createMigratedTemplate());
  const clone = stack.use(await template.clone());
  database = stack.use(openTestDatabase(clone.url));
  await database.run(`insert into accounts (id, name, plan) values ('acc_1', 'one', 'paid')`);
  const made = () => Array.from({ length: samples }, () => newKey().key);
  keys.unknown = made();
  for (const kind of ['valid', 'revoked', 'expired'] as const) {
    keys[kind] = made();
    await database.run(
      `insert into api_keys (id, account_id, hash, display, scopes, revoked_at, expires_at)
       select $1 || '_' || n, 'acc_1', hash, 'esk_…', '{}',
         case when $1 = 'revoked' then now() end, case when $1 = 'expired' then now() - interval '1 day' end
       from unnest($2::bytea[]) with ordinality as made (hash, n)`,
      [kind, keys[kind].map(hashOf)],
    );
  }
  // The first 35 of 42 characters are those of a valid key; the checksum has to be right or nothing is looked up.
  keys['almost right'] = keys.valid.map((key) => {
    const body = key.slice('esk_'.length, -6);
    return formatKey(body.slice(0, -1) + (body.endsWith('0') ? '1' : '0'));
  });
  await database.run('analyze api_keys');
  opened = stack.move();
});
afterAll(() => opened?.disposeAsync());

/** As a node has it that has seen none of the keys, and stopped counting guesses. */
function authenticateOver(store: ReturnType<typeof createKeyLookup>) {
  const nowMs = () => performance.now();
  const guesses = createKeyGuesses({ perMinute: 1_000_000, nowMs });
  const authenticate = createAuthenticate({ store, guesses, nowMs });
  return async (key: string) =>
    await authenticate(`Bearer ${key}`, '192.0.2.1').then(
      () => 'let in',
      (error: unknown) => String(error),
    );
}

/** The share of pairs in which the first is the larger: 0.5 when the two cannot be told apart, 1 when always. */
function shareLarger(some: readonly number[], others: readonly number[]): number {
  const larger = some.flatMap((one) => others.map((other) => (one > other ? 1 : one === other ? 0.5 : 0)));
  return larger.reduce<number>((sum, one) => sum + one, 0) / larger.length;
}

/** Every kind against "unknown". One key of each in turn, so that what else the machine does concerns all of them. */
async function timesOf(store: ReturnType<typeof createKeyLookup>): Promise<Record<string, number>> {
  const ask = authenticateOver(store);
  for (const key of keys.valid.slice(0, 50)) await ask(key);
  const times: Record<Kind, number[]> = { unknown: [], revoked: [], expired: [], 'almost right': [] };
  for (let n = 0; n < samples; n++) {
    for (let k = 0; k < kinds.length; k++) {
      // Another one begins each time: who comes first after a pause is slower.
      const kind = kinds[(n + k) % kinds.length] ?? 'unknown';
      const startedAt = performance.now();
      const answer = await ask(keys[kind][n] ?? '');
      times[kind].push(performance.now() - startedAt);
      if (!answer.includes('valid API key')) throw new Error(`${kind}: ${answer}`);
    }
  }
  return Object.fromEntries(kinds.map((kind) => [kind, shareLarger(times[kind], times.unknown)]));
}

const tellable = (shares: Record<string, number>) =>
  Object.entries(shares).filter(([, share]) => Math.abs(share - 0.5) > shareOffMax);

describe('how long a refusal takes', () => {
  test('says nothing about why: unknown, revoked, expired or almost right', async () => {
    const shares = await timesOf(createKeyLookup(database));
    expect(tellable(shares)).toEqual([]);
  });

  // How much slower depends on the machine.
  testNightly(
    'would tell of a revoked key that is looked at once more: the measurement is fine enough',
    {},
    async () => {
      const store = createKeyLookup(database);
      const revoked = new Set(keys.revoked.map((key) => hashOf(key).toString('hex')));
      const leaking: typeof store = {
        ...store,
        principalOf: async (hash) => {
          const principal = await store.principalOf(hash);
          if (revoked.has(hash.toString('hex')))
            await database.prepared('select revoked_at from api_keys where hash = $1', [hash]);
          return principal;
        },
      };
      const shares = await timesOf(leaking);
      expect(tellable(shares).map(([kind]) => kind)).toContain('revoked');
    },
  );
});

describe('what is done for a refusal', () => {
  const lastOf = (kind: Kind | 'valid') => keys[kind].at(-1) ?? '';
  interface Statement {
    readonly text: string;
    readonly values: readonly unknown[];
  }

  async function statementsFor(key: string): Promise<Statement[]> {
    const statements: Statement[] = [];
    const note = (text: string, values: readonly unknown[] = []) => void statements.push({ text, values });
    const recording: Database = {
      ...database,
      many: (...asked) => (note(...asked), database.many(...asked)),
      one: (...asked) => (note(...asked), database.one(...asked)),
      prepared: (...asked) => (note(...asked), database.prepared(...asked)),
      run: (...asked) => (note(...asked), database.run(...asked)),
    };
    await authenticateOver(createKeyLookup(recording))(key);
    return statements;
  }

  test('is one and the same statement for every kind of key, and knows only the hash of the whole key', async () => {
    const shared = new Set<string>();
    for (const kind of kinds) {
      const key = lastOf(kind);
      const statements = await statementsFor(key);
      expect(statements.map(({ values }) => values)).toEqual([[[hashOf(key)]]]);
      for (const { text } of statements) shared.add(text);
    }
    expect(shared.size).toBe(1);
  });

  test('is nothing at all for a malformed key: its checksum is no secret', async () => {
    const malformed = `${lastOf('valid').slice(0, -1)}_`;
    expect(isWellFormedKey(malformed)).toBe(false);
    expect(await statementsFor(malformed)).toEqual([]);
  });
});
