import { createHash, randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import pg from 'pg';

/**
 * What a plain program would do for the same answers, on the same tables: it knows the caller by the key's hash, reads or
 * writes in a transaction, and answers with the same fields. It checks no rule, explains no match, keeps no answer for
 * repetitions, limits nobody and leaves it to its statements to read what is the caller's. `node bare-server.ts DATABASE_URL` prints its address.
 */
const pool = new pg.Pool({ connectionString: process.argv[2], max: 16, options: '-c jit=off' });
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
const app = Fastify();

interface Known {
  readonly accountId: string;
  readonly keyId: string;
  readonly until: number;
}
const known = new Map<string, Known>();

async function callerOf(authorization = ''): Promise<Known> {
  const hash = createHash('sha256').update(authorization.slice('Bearer '.length)).digest();
  const id = hash.toString('base64');
  const remembered = known.get(id);
  if (remembered && remembered.until > Date.now()) return remembered;
  const { rows } = await pool.query({
    name: 'key',
    text: `select api_keys.id, account_id from api_keys join accounts on accounts.id = account_id
      where hash = $1 and revoked_at is null`,
    values: [hash],
  });
  const caller = { accountId: rows[0].account_id, keyId: rows[0].id, until: Date.now() + 3_000 };
  known.set(id, caller);
  return caller;
}

async function transaction<Result>(
  opening: string,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    await client.query(opening);
    const result = await work(client);
    await client.query('commit');
    return result;
  } finally {
    client.release();
  }
}

const page = `select matches.position, matches.rule_id, matches.rule_version, matches.created_at, matches.platform,
    posts.platform_post_id, posts.payload
  from (
    select * from matches where account_id = $1 and platform = 'x' and event_day = any($3)
    order by position desc limit $2
  ) as matches
  join posts using (platform, event_key, event_day)
  where posts.event_day = any($3)
  order by matches.position desc`;

app.post<{ Body: { limit: number } }>('/matches', async (request) => {
  const caller = await callerOf(request.headers.authorization);
  const { limit } = request.body;
  const today = [new Date().toISOString().slice(0, 10)];
  const rows = await transaction('begin read only', async (client) => {
    // Not prepared, as ours: the plan depends on the account.
    const found = await client.query(page, [caller.accountId, limit, today]);
    return found.rows;
  });
  const matches = rows.map((row) => ({
    id: `match_${row.position}`,
    rule_id: row.rule_id,
    rule_version: row.rule_version,
    created_at: row.created_at.toISOString(),
    platform: row.platform,
    platform_post_id: row.platform_post_id,
    payload: JSON.parse(row.payload),
  }));
  return { matches, next_cursor: matches.at(-1)?.id ?? null, coverage: null };
});

app.post<{ Body: { name: string; intent: string; overrides: { x: string } } }>(
  '/api.CreateRule',
  async (request) => {
    const caller = await callerOf(request.headers.authorization);
    const { name, intent, overrides } = request.body;
    const id = `rule_${randomUUID()}`;
    await transaction('begin', async (client) => {
      const run = (text: string, values: unknown[]) =>
        client.query({ name: text.slice(0, 40), text, values });
      await run(
        `insert into rules (id, account_id, created_by, name, intent, state) values ($1, $2, $3, $4, $5, 'active')`,
        [id, caller.accountId, caller.keyId, name, intent],
      );
      await run(
        `with slot as (select id from slots where platform = 'x' and value = $3 limit 1 for update), holder as (
           insert into slot_holders (slot_id, rule_id, account_id, platform, rule_version, pending)
           select id, $1, $2, 'x', 1, false from slot
         )
         insert into rule_versions (rule_id, version, platform, value, translated_value, platform_rule_id, slot_id, options)
         select $1, 1, 'x', $3, $3, $4, id, '{}' from slot`,
        [id, caller.accountId, overrides.x, randomUUID()],
      );
      await run(
        `insert into audit (id, account_id, actor, operation, target_id, after, request_id)
         values ($1, $2, $3, 'CreateRule', $4, $5, $6)`,
        [
          `aud_${randomUUID()}`,
          caller.accountId,
          caller.keyId,
          id,
          { name, state: 'active' },
          `req_${randomUUID()}`,
        ],
      );
    });
    return { rule_id: id, platforms: { x: { translated_value: overrides.x } } };
  },
);

const address = await app.listen({ port: 0, host: '127.0.0.1' });
process.stdout.write(`${address}\n`);
