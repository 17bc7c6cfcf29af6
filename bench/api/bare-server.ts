import { createHash, createHmac, randomBytes, randomInt, randomUUID } from 'node:crypto';
import Fastify, { type FastifyRequest, LogController } from 'fastify';
import pg from 'pg';
import { createParsedRules } from '../../apps/server/src/language/explain-match.ts';
import { toMatch } from '../../apps/server/src/readers/to-match.ts';
import { checkRule } from '../../apps/server/src/rules/check-rule.ts';
import { valueHash } from '../../apps/server/src/slots/slot.ts';
import { createBareLimits } from './bare-limits.ts';
import * as statements from './bare-statements.ts';

/**
 * The baseline: a plain program with the same answers from the same tables. It finds the caller by the key's hash, counts its
 * requests, acts as the account under row security, checks the rule and the account's limits, explains the matches, signs the
 * cursor, and writes the audit entry and a log line. Every step is one prepared statement or one function. It calls the rule
 * languages as the server does. It never waits, stores no answers for repetitions, and has only the two measured requests.
 * `node bare-server.ts DATABASE_URL LOG_FILE` prints its address.
 */
const [, , connectionString, file = ''] = process.argv;
const pool = new pg.Pool({ connectionString, max: 16, options: '-c jit=off' });
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
const logController = new LogController({ disableRequestLogging: true });
const app = Fastify({ logger: { level: 'info', file }, logController });
const limits = createBareLimits();
const parsedRules = createParsedRules();
const cursorSecret = randomBytes(32);
const rulesMax = 1_000_000;

interface Known {
  readonly accountId: string;
  readonly keyId: string;
  readonly until: number;
}
const known = new Map<string, Known>();
const callers = new WeakMap<FastifyRequest, Known>();

type Run = <Row>(statement: statements.Statement, values: readonly unknown[]) => Promise<Row[]>;

const runOn =
  (client: pg.Pool | pg.PoolClient): Run =>
  async ({ name, text }, values) =>
    (await client.query({ name, text, values: [...values] })).rows;
const run = runOn(pool);

async function callerOf(authorization = ''): Promise<Known> {
  const hash = createHash('sha256').update(authorization.slice('Bearer '.length)).digest();
  const id = hash.toString('base64');
  const remembered = known.get(id);
  if (remembered && remembered.until > Date.now()) return remembered;
  const [row] = await run<{ id: string; account_id: string }>(statements.key, [hash]);
  if (!row) throw Object.assign(new Error('unknown key'), { statusCode: 401 });
  const caller = { accountId: row.account_id, keyId: row.id, until: Date.now() + 3_000 };
  known.set(id, caller);
  return caller;
}

async function transaction<Result>(
  { begin, role, accountId }: { begin: string; role: string; accountId: string },
  work: (run: Run) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    const account = pg.escapeLiteral(accountId);
    await client.query(`${begin}; set local role ${role}; set local earshot.account = ${account}`);
    const result = await work(runOn(client));
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

app.addHook('onRequest', async (request, reply) => {
  const caller = await callerOf(request.headers.authorization);
  callers.set(request, caller);
  const { accountId, keyId } = caller;
  const changes = request.url === '/api.CreateRule';
  reply.headers({ ...limits.take(keyId, accountId, changes), 'x-request-id': request.id });
});
app.addHook('onResponse', async (request, reply) => {
  const { accountId, keyId } = whoAsks(request);
  const { url: operation, id: requestId, ip: address } = request;
  const ms = Math.round(reply.elapsedTime);
  app.log.info({ operation, status: reply.statusCode, ms, requestId, address, keyId, accountId }, 'request');
});

function whoAsks(request: FastifyRequest): Known {
  const caller = callers.get(request);
  if (!caller) throw new Error('no such key');
  return caller;
}

const listSchema = {
  body: {
    type: 'object',
    additionalProperties: false,
    properties: { limit: { type: 'integer', minimum: 1, maximum: 100, default: 50 } },
  },
};

const pageBytesMax = 1024 * 1024;

app.post<{ Body: { limit: number } }>('/matches', { schema: listSchema }, async (request) => {
  const { accountId } = whoAsks(request);
  const { limit } = request.body;
  const rows = await transaction({ begin: 'begin read only', role: 'earshot_account', accountId }, (run) =>
    run<statements.MatchRow>(statements.page, [accountId, limit]),
  );
  let bytes = 0;
  const fitting = rows.filter(({ payload }, n) => {
    bytes += payload.length;
    return n === 0 || bytes <= pageBytesMax;
  });
  const matches = fitting.map(({ payload, ...row }) =>
    toMatch(parsedRules, { ...row, payload: JSON.parse(payload) }),
  );
  const last = fitting.at(-1);
  const more = last !== undefined && rows.length === limit;
  return { matches, next_cursor: more ? cursorOf(accountId, last.position) : null, coverage: null };
});

function cursorOf(accountId: string, position: number): string {
  const signature = createHmac('sha256', cursorSecret).update(`${accountId} newest ${position}`).digest();
  return Buffer.concat([signature.subarray(0, 16), Buffer.from(String(position))]).toString('base64url');
}

const createSchema = {
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['name', 'intent', 'platforms', 'overrides'],
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 200 },
      intent: { type: 'string', minLength: 1, maxLength: 2_000 },
      platforms: { type: 'array', items: { const: 'x' }, minItems: 1, maxItems: 1 },
      overrides: { type: 'object', required: ['x'], properties: { x: { type: 'string', maxLength: 4_096 } } },
    },
  },
};

interface NewRule {
  readonly name: string;
  readonly intent: string;
  readonly platforms: ['x'];
  readonly overrides: { readonly x: string };
}

app.post<{ Body: NewRule }>('/api.CreateRule', { schema: createSchema }, async (request) => {
  const { accountId, keyId } = whoAsks(request);
  const { values, warnings } = checkRule({ ...request.body, overrides: { x: request.body.overrides.x } });
  const [value] = values;
  if (!value) throw new Error('a rule without a value');
  const [budgets] = await run<{ key: unknown; account: unknown }>(statements.budgets, [accountId, keyId]);
  if (budgets?.key || budgets?.account) throw new Error('the benchmark has no budgets');
  const id = `rule_${randomUUID()}`;
  const created = await transaction({ begin: 'begin', role: 'earshot_rules', accountId }, (run) =>
    create(run, { ...request.body, id, accountId, keyId, requestId: request.id, value }),
  );
  const { equivalent, slot } = created;
  const results = {
    platform_rule_id: slot.platform_rule_id,
    translated_value: value.translatedValue,
    status: slot.live ? 'active' : 'pending',
    warnings: [
      ...(warnings.get('x') ?? []),
      ...(equivalent ? [{ code: 'equivalent_rule', equivalent }] : []),
    ],
  };
  return {
    rule_id: id,
    platforms: { x: results },
    ...(equivalent && { equivalent_rule_id: equivalent }),
  };
});

async function create(
  run: Run,
  rule: NewRule & {
    id: string;
    accountId: string;
    keyId: string;
    requestId: string;
    value: { value: string; translatedValue: string };
  },
) {
  const { id, accountId, keyId, name } = rule;
  const { value, translatedValue } = rule.value;
  const [reached] = await run<{ used: number | null }>(statements.premium, [accountId, rulesMax]);
  if (reached?.used) throw new Error('too many rules');
  await run(statements.insertRule, [id, accountId, keyId, name, rule.intent]);
  const hash = valueHash('x', translatedValue);
  const [found] = await run<{ id: string }>(statements.equivalent, [id, accountId, hash, translatedValue]);
  const platformRuleId = `1${randomInt(2 ** 47)}`;
  const [slot] = await run<{ platform_rule_id: string; live: boolean }>(statements.takeSlot, [
    id,
    accountId,
    hash,
    value,
    translatedValue,
    platformRuleId,
  ]);
  if (!slot) throw new Error('the slot is not known');
  const audit = { name, state: 'active' };
  await run(statements.audit, [`aud_${randomUUID()}`, accountId, keyId, id, audit, rule.requestId]);
  return { equivalent: found?.id ?? null, slot };
}

const address = await app.listen({ port: 0, host: '127.0.0.1' });
process.stdout.write(`${address}\n`);
