import type { Clock } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { type Exchange, sendJson } from '../http/exchange.ts';
import { isJsonObject, isStringArray, type JsonObject, readJsonObject } from '../http/json.ts';
import { holdRuleAnswer, refuseRule, refuseRuleCall } from '../request-faults.ts';
import { admit } from './access.ts';
import type { XApp } from './app.ts';
import type { RuleInput, XRule } from './rule-set.ts';
import { summarizeAdd } from './rules-answer.ts';

/** GET /2/tweets/search/stream/rules (x.md §3.2). */
export function listRules(exchange: Exchange, { apps, faults, clock }: Deps): void {
  const app = admit(exchange, apps, 'list');
  refuseRuleCall(faults, { platform: 'x', token: app.token }, exchange);
  const { rules, nextToken } = selectPage(app, exchange.query);
  const meta = {
    sent: toSent(clock),
    result_count: rules.length,
    ...(nextToken && { next_token: nextToken }),
  };
  const data = rules.map(toWire);
  sendJson(exchange.response, 200, data.length > 0 ? { data, meta } : { meta });
}

/** POST /2/tweets/search/stream/rules: add or delete (x.md §3.3 and §3.4). */
export async function changeRules(exchange: Exchange, { apps, faults, clock }: Deps): Promise<void> {
  const app = admit(exchange, apps, 'change');
  const scope = { platform: 'x', token: app.token } as const;
  refuseRuleCall(faults, scope, exchange);
  const body = await readJsonObject(exchange.request);
  const dryRun = exchange.query.get('dry_run') === 'true';
  const wanted = readRulesRequest(app, body, exchange.query);
  const refuse = (value: string) => refuseRule(faults, scope, value);
  const answer = wanted.add
    ? summarizeAdd(app, app.rules.add(wanted.add, { dryRun, refuse }), toSent(clock))
    : { status: 200, body: removeRules(app, wanted.remove, dryRun, toSent(clock)) };
  if (!dryRun && !(await holdRuleAnswer(faults, scope, exchange))) return;
  sendJson(exchange.response, answer.status, answer.body);
}

/** GET /2/tweets/search/stream/rules/counts (x.md §3.5): caps are strings, `rule_count` is a number. */
export function countRules(exchange: Exchange, { apps }: Deps): void {
  const app = admit(exchange, apps, 'ruleCounts');
  const ruleCount = app.rules.list().length;
  const own = { client_app_id: app.clientAppId, rule_count: ruleCount };
  const all: JsonObject = {
    cap_per_client_app: String(app.ruleCap),
    cap_per_project: String(app.ruleCap),
    project_rules_count: String(ruleCount),
    client_app_rules_count: own,
    all_project_client_apps: [own],
  };
  const wanted = exchange.query.get('rules_count.fields')?.split(',') ?? Object.keys(all);
  const data = Object.fromEntries(
    wanted.flatMap((field) => (Object.hasOwn(all, field) ? [[field, all[field]]] : [])),
  );
  sendJson(exchange.response, 200, { data });
}

type Removal = { keys: string[]; by: 'id' | 'value' } | 'all';
type RulesRequest = { add: RuleInput[]; remove?: never } | { add?: never; remove: Removal };

/** Exactly one of add, delete and delete_all, and no other field (x.md §3.3). */
function readRulesRequest(app: XApp, body: JsonObject | undefined, query: Exchange['query']): RulesRequest {
  const { invalidRequest } = app.problems;
  if (body === undefined) throw invalidRequest('The body is not a JSON object.');
  const unknown = Object.keys(body).find((key) => key !== 'add' && key !== 'delete');
  if (unknown !== undefined) throw invalidRequest(`$.${unknown}: is not defined in the schema.`);
  const deleteAll = query.get('delete_all') === 'true';
  const { add, delete: remove } = body;
  if ([add !== undefined, remove !== undefined, deleteAll].filter(Boolean).length !== 1) {
    throw invalidRequest('Exactly one of add, delete and delete_all=true is needed.');
  }
  if (deleteAll) return { remove: 'all' };
  if (add === undefined) return { remove: readRemoval(app, remove) };
  if (!Array.isArray(add) || add.length === 0) throw invalidRequest('$.add: must be a list of rules.');
  if (add.length > app.knobs.rulesPerCallMax) throw invalidRequest('$.add: has too many rules.');
  return { add: add.map((item) => readRule(app, item)) };
}

function readRule({ problems, knobs }: XApp, item: unknown): RuleInput {
  const isRule = isJsonObject(item) && Object.keys(item).every((key) => key === 'value' || key === 'tag');
  if (!isRule || typeof item['value'] !== 'string') {
    throw problems.invalidRequest('$.add[]: a rule has a value and may have a tag.');
  }
  const { value, tag } = item;
  if (tag !== undefined && typeof tag !== 'string')
    throw problems.invalidRequest('$.add[].tag: must be a string.');
  if (tag !== undefined && tag.length > knobs.tagLengthMax)
    throw problems.invalidRequest('$.add[].tag: is too long.');
  return { value, tag };
}

function readRemoval({ problems }: XApp, remove: unknown): Removal {
  const { ids, values, ...rest } = isJsonObject(remove) ? remove : {};
  const hasOthers = Object.keys(rest).length > 0;
  if (!hasOthers && values === undefined && isStringArray(ids) && ids.length > 0) {
    const malformed = ids.filter((id) => !/^[0-9]{1,19}$/.test(id));
    if (malformed.length > 0) throw problems.invalidRequest('An id is not numeric.', { ids: malformed });
    return { keys: ids, by: 'id' };
  }
  if (!hasOthers && ids === undefined && isStringArray(values) && values.length > 0) {
    return { keys: values, by: 'value' };
  }
  throw problems.invalidRequest('$.delete: needs either ids or values.');
}

function removeRules(app: XApp, removal: Removal, dryRun: boolean, sentAt: string): object {
  const keys = removal === 'all' ? undefined : new Set(removal.keys);
  const isWanted = (rule: XRule) => removal === 'all' || (keys?.has(rule[removal.by]) ?? false);
  const deleted = app.rules.remove(isWanted, dryRun);
  const notDeleted = (keys?.size ?? deleted) - deleted;
  const meta = { sent: sentAt, summary: { deleted, not_deleted: notDeleted } };
  if (notDeleted === 0) return { meta };
  const miss = app.problems.invalidRequest(`${notDeleted} of the given rules do not exist.`);
  return { meta, errors: [miss.body] };
}

function selectPage(app: XApp, query: Exchange['query']): { rules: XRule[]; nextToken: string | undefined } {
  const size = Number(query.get('max_results') ?? 1_000);
  if (!Number.isInteger(size) || size < 1 || size > 1_000) {
    throw app.problems.invalidRequest('max_results is 1 to 1000.', {
      max_results: [query.get('max_results')],
    });
  }
  const token = query.get('pagination_token');
  if (token !== null && !/^[0-9A-V]{16}$/.test(token)) {
    throw app.problems.invalidRequest('The pagination token is not valid.', { pagination_token: [token] });
  }
  const ids = query.get('ids')?.split(',');
  const after = token === null ? 0n : fromToken(token);
  const rest = app.rules.list().filter(({ id }) => BigInt(id) > after && (ids?.includes(id) ?? true));
  const rules = rest.slice(0, size);
  const last = rules.at(-1);
  return { rules, nextToken: last && rest.length > size ? toToken(last.id) : undefined };
}

/** The id of the last rule on the page as 16 characters of base32hex. */
function toToken(id: string): string {
  return BigInt(id).toString(32).toUpperCase().padStart(16, '0');
}

function fromToken(token: string): bigint {
  return Array.from(token).reduce((sum, digit) => sum * 32n + BigInt(Number.parseInt(digit, 32)), 0n);
}

function toWire({ id, value, tag }: XRule): object {
  return { id, value, ...(tag !== undefined && { tag }) };
}

function toSent({ nowMs }: Clock): string {
  return new Date(nowMs()).toISOString();
}
