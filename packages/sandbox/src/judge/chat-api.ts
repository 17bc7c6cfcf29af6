import { setTimeout as wait } from 'node:timers/promises';
import type { Deps } from '../deps.ts';
import { type Exchange, Refusal, sendJson } from '../http/exchange.ts';
import { isJsonObject, type JsonObject, readJsonObject, textOf } from '../http/json.ts';
import type { Route } from '../http/router.ts';
import { type Judge, meterCall, writeContent } from './judge.ts';

/** Chat Completions, as OpenAI documents it: one choice, no streaming, a strict `json_schema` or none. */
export const judgeRoutes: readonly Route<Deps>[] = [['POST', '/v1/chat/completions', complete]];

async function complete(exchange: Exchange, { judge }: Deps): Promise<void> {
  judge.used.calls += 1;
  judge.inFlight += 1;
  judge.inFlightMax = Math.max(judge.inFlightMax, judge.inFlight);
  try {
    await answer(exchange, judge);
  } finally {
    judge.inFlight -= 1;
  }
}

async function answer({ request, response }: Exchange, judge: Judge): Promise<void> {
  const { mode, delayMs, retryAfter } = judge.knobs;
  const body = await readJsonObject(request);
  if (mode === 'dead') return void request.socket.resetAndDestroy();
  if (mode === 'rate_limited') {
    const error = { message: 'Rate limit reached for requests', code: 'rate_limit_exceeded' };
    throw refusal(429, error, { 'retry-after': String(retryAfter) });
  }
  const { model, contents, outputMax } = readRequest(body);
  const written = writeContent(judge, mode, contents.at(-1) ?? '');
  const content = written.slice(0, outputMax * charactersPerToken);
  const input = tokensOf(contents.join('')) + contents.length * tokensPerMessage;
  const output = tokensOf(content);
  meterCall(judge, input, output);
  if (mode === 'dying') return void request.socket.resetAndDestroy();
  if (mode === 'slow') await waitWhileOpen(response, delayMs);
  sendJson(response, 200, {
    id: `chatcmpl-${judge.used.calls}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1_000),
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal: null },
        logprobs: null,
        finish_reason: content === written ? 'stop' : 'length',
      },
    ],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  });
}

/** About what tokenizers make of English. */
const charactersPerToken = 4;
const tokensPerMessage = 4;
const tokensOf = (text: string): number => Math.ceil(text.length / charactersPerToken);

/** A client that gives up ends the wait, so that the sandbox can close. */
async function waitWhileOpen(response: Exchange['response'], ms: number): Promise<void> {
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  await wait(ms, undefined, { signal: closed.signal }).catch(() => undefined);
}

function readRequest(body: JsonObject | undefined) {
  if (body === undefined)
    throw refusal(400, { message: 'We could not parse the JSON body of your request.' });
  const { model, messages, max_tokens: outputMax = 4_096, stream = false } = body;
  if (typeof model !== 'string') throw refusal(400, { message: 'you must provide a model parameter' });
  if (!Array.isArray(messages) || messages.length === 0) throw invalid('messages');
  const contents = messages.map((message: unknown, index) => {
    const { role, content } = isJsonObject(message) ? message : {};
    if (!roles.includes(textOf(role)) || typeof content !== 'string') throw invalid(`messages[${index}]`);
    return content;
  });
  if (typeof outputMax !== 'number' || !Number.isInteger(outputMax) || outputMax < 1)
    throw invalid('max_tokens');
  if (stream !== false) throw invalid('stream');
  assertFormat(body['response_format']);
  return { model, contents, outputMax };
}

const roles = ['developer', 'system', 'user', 'assistant'];

/** The rules of strict schemas, for one object without nested ones. */
function assertFormat(format: unknown): void {
  if (format === undefined) return;
  const { type, json_schema: named } = isJsonObject(format) ? format : {};
  if (type === 'text' || type === 'json_object') return;
  if (type !== 'json_schema' || !isJsonObject(named)) throw invalid('response_format');
  if (!/^[\w-]{1,64}$/.test(textOf(named['name']))) throw invalid('response_format.json_schema.name');
  if (named['strict'] !== true) return;
  const { type: kind, properties, required, additionalProperties } = schemaOf(named);
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  const isComplete = Array.isArray(required) && names.every((name) => required.includes(name));
  if (kind !== 'object' || additionalProperties !== false || !isComplete)
    throw invalid('response_format.json_schema.schema');
}

function schemaOf({ schema }: JsonObject): JsonObject {
  return isJsonObject(schema) ? schema : {};
}

function invalid(param: string): Refusal {
  return refusal(400, { message: `Invalid value for '${param}'.`, code: 'invalid_value', param });
}

function refusal(
  status: number,
  error: { readonly message: string; readonly code?: string; readonly param?: string },
  headers: Record<string, string> = {},
): Refusal {
  const type = status === 429 ? 'requests' : 'invalid_request_error';
  return new Refusal(status, { error: { type, param: null, code: null, ...error } }, headers);
}
