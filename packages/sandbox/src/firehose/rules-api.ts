import { randomUUID } from 'node:crypto';
import type { Diagnostic } from '@earshot/query';
import type { Deps } from '../deps.ts';
import { type Exchange, type Refusal, sendEmpty, sendJson } from '../http/exchange.ts';
import { type JsonObject, readJsonObject } from '../http/json.ts';
import { holdRuleAnswer, refuseRule, refuseRuleCall } from '../request-faults.ts';
import { authenticateTap, countCall } from './access.ts';
import { compileFirehoseRule, validateFirehoseRule } from './compile-rule.ts';
import { printCompiled } from './compiled-query.ts';
import { invalid, notFound } from './problems.ts';
import { deleteRule, type FirehoseRule, putRule, type Tap } from './tap.ts';

/** GET /v1/rules (firehose.md §4). */
export function listRules(exchange: Exchange, deps: Deps): void {
  const tap = authorize(exchange, deps);
  const all = Array.from(tap.rules.values(), toWire);
  const data = all.slice(0, deps.organization.knobs.listMax);
  sendJson(exchange.response, 200, { data, meta: { count: all.length } });
}

export function readRule(exchange: Exchange, deps: Deps): void {
  const tap = authorize(exchange, deps);
  sendJson(exchange.response, 200, { data: toWire(findRule(exchange, tap)) });
}

export async function addRule(exchange: Exchange, deps: Deps): Promise<void> {
  const tap = authorize(exchange, deps);
  const body = await readJsonObject(exchange.request);
  const rule = buildRule(body, undefined, checkOf(deps, tap));
  const { knobs } = deps.organization;
  const isDuplicate = tap.rules.values().some(({ value }) => value === rule.value);
  if (isDuplicate && knobs.duplicateRules === 'refused')
    throw invalidFor(deps, 'value', 'The value has already been taken.');
  const cap = Math.min(tap.ruleCap, knobs.ruleCap);
  if (tap.rules.size >= cap) throw invalidFor(deps, 'value', `A tap has at most ${cap} rules.`);
  putRule(tap, rule);
  if (await mayAnswer(deps, tap, exchange)) sendJson(exchange.response, 201, { data: toWire(rule) });
}

/** PUT /v1/rules/:id: omitted fields and the id stay the same. */
export async function changeRule(exchange: Exchange, deps: Deps): Promise<void> {
  const tap = authorize(exchange, deps);
  const old = findRule(exchange, tap);
  const body = await readJsonObject(exchange.request);
  const rule = buildRule(body, old, checkOf(deps, tap));
  putRule(tap, rule);
  if (await mayAnswer(deps, tap, exchange)) sendJson(exchange.response, 200, { data: toWire(rule) });
}

export async function removeRule(exchange: Exchange, deps: Deps): Promise<void> {
  const tap = authorize(exchange, deps);
  deleteRule(tap, findRule(exchange, tap), deps.organization.knobs.deletionLagMs);
  if (await mayAnswer(deps, tap, exchange)) sendEmpty(exchange.response, 204);
}

/** POST /v1/validate. */
export async function validateOwnRule(exchange: Exchange, deps: Deps): Promise<void> {
  authenticateTap(exchange, deps.organization);
  await validateRule(exchange, deps);
}

/** POST /v1/validate/public; the response bodies are an assumption (firehose.md §5). */
export async function validateRule(exchange: Exchange, deps: Deps): Promise<void> {
  const { knobs } = deps.organization;
  const value = (await readJsonObject(exchange.request))?.['value'];
  if (typeof value !== 'string') throw invalidFor(deps, 'value', 'The value field is required.');
  const { canonical, root, diagnostics } = validateFirehoseRule(value, knobs.defaultOperator);
  const valid = canonical !== null;
  const compiled = valid && root !== null ? { compiled: printCompiled(root) } : {};
  const verdict = { valid, diagnostics: diagnostics.map(toWireDiagnostic), ...compiled };
  sendJson(exchange.response, 200, knobs.validation === 'wrapped' ? { data: verdict } : verdict);
}

/** Suspicious findings are Earshot's own; the platform only warns. */
function toWireDiagnostic({ severity, message, span: [start, end] }: Diagnostic): object {
  return { severity: severity === 'suspicious' ? 'warning' : severity, message, start, end };
}

function authorize(exchange: Exchange, { organization, faults }: Deps): Tap {
  const tap = authenticateTap(exchange, organization);
  countCall(tap, 'rules');
  refuseRuleCall(faults, { platform: 'firehose', token: tap.token }, exchange);
  return tap;
}

function mayAnswer({ faults }: Deps, { token }: Tap, exchange: Exchange): Promise<boolean> {
  return holdRuleAnswer(faults, { platform: 'firehose', token }, exchange);
}

/** What a rule is checked with: armed faults, and the knobs of the organization. */
interface RuleCheck {
  readonly refuse: (value: string) => string | undefined;
  readonly compile: (value: string) => ReturnType<typeof compileFirehoseRule>;
  readonly invalid: (field: string, ...messages: string[]) => Refusal;
}

function checkOf(deps: Deps, { token }: Tap): RuleCheck {
  return {
    refuse: (value) => refuseRule(deps.faults, { platform: 'firehose', token }, value),
    compile: (value) => compileFirehoseRule(value, deps.organization.knobs.defaultOperator),
    invalid: (field, ...messages) => invalidFor(deps, field, ...messages),
  };
}

function invalidFor({ organization }: Deps, field: string, ...messages: string[]): Refusal {
  return invalid(field, messages, organization.knobs.refusals);
}

function findRule({ params }: Exchange, { rules }: Tap): FirehoseRule {
  const rule = rules.get(params['id'] ?? '');
  if (rule === undefined) throw notFound('Rule');
  return rule;
}

const tagLengthMax = 255;

function buildRule(
  body: JsonObject | undefined,
  old: FirehoseRule | undefined,
  { refuse, compile, invalid }: RuleCheck,
): FirehoseRule {
  const value = body?.['value'] ?? old?.value;
  if (typeof value !== 'string') throw invalid('value', 'The value field is required.');
  const tag = body?.['tag'] ?? old?.tag;
  if (tag !== undefined && (typeof tag !== 'string' || tag.length > tagLengthMax)) {
    throw invalid('tag', `The tag is a text of at most ${tagLengthMax} characters.`);
  }
  const nsfw = body?.['nsfw'] ?? old?.nsfw ?? false;
  const quality = body?.['quality'] ?? old?.quality ?? true;
  if (typeof nsfw !== 'boolean') throw invalid('nsfw', 'The nsfw field is true or false.');
  if (typeof quality !== 'boolean') throw invalid('quality', 'The quality field is true or false.');
  const refusal = refuse(value);
  if (refusal !== undefined) throw invalid('value', refusal);
  const compiled = compile(value);
  if (!compiled.ok) throw invalid('value', ...compiled.details);
  return { id: old?.id ?? randomUUID(), value, tag, nsfw, quality, matcher: compiled.matcher };
}

/** Flags with their default value are omitted, as in the documentation's samples. */
function toWire({ id, value, tag, nsfw, quality }: FirehoseRule): object {
  return {
    id,
    value,
    ...(tag !== undefined && { tag }),
    ...(nsfw && { nsfw }),
    ...(!quality && { quality }),
  };
}
