import { createEarshot } from '@earshot/sdk';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMcpOverHttp } from '../src/http.ts';
import { tools } from '../src/tools.ts';
import { jsonAnswer } from './in-process.ts';

const refusal = { code: 'not_found', message: 'No.', details: { request_id: 'req_1' } };
const earshot = createEarshot({
  url: 'http://earshot.invalid',
  key: 'esk_test',
  fetch: async () => jsonAnswer(refusal, 404),
});

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'hostile', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

async function send(body: unknown, headers: Record<string, string> = {}) {
  const faults: unknown[] = [];
  const mcp = createMcpOverHttp({ confirmAboveUsd: 5, onFault: (error) => faults.push(error) });
  const request = new Request('http://earshot.invalid/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
  });
  const response = await mcp.answer(request, { earshot, body });
  return { status: response.status, text: await response.text(), faults };
}

/** Known argument names, with arbitrary values. */
const knownFields = tools.flatMap(({ input }) => Object.keys(input.shape));
const someArguments = fc.dictionary(
  fc.oneof(fc.constantFrom(...knownFields, '__proto__', 'constructor', 'toString'), fc.string()),
  fc.oneof(fc.jsonValue(), fc.constantFrom('x', ['x'], { x: 'a' }, 1, '', null)),
);

test('arbitrary arguments get a readable refusal, and cause no fault', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...tools), someArguments, async ({ name }, args) => {
      const params = { name, arguments: args, _meta: meta };
      const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name };
      const { status, text, faults } = await send(
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
        headers,
      );
      expect({ status, faults }).toEqual({ status: 200, faults: [] });
      expect(JSON.parse(text)).toMatchObject({ result: { isError: true } });
    }),
    { numRuns: 150 },
  );
}, 60_000);

test('arbitrary messages cause no fault', async () => {
  const message = fc.record(
    {
      jsonrpc: fc.constantFrom('2.0', '1.0', null),
      id: fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
      method: fc.oneof(
        fc.constantFrom('tools/call', 'tools/list', 'initialize', 'server/discover'),
        fc.string(),
      ),
      params: fc.oneof(
        fc.jsonValue(),
        fc.constant({ _meta: meta }),
        fc.constant({ name: 'list_rules', _meta: meta }),
      ),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(fc.oneof(message, fc.array(message, { maxLength: 5 }), fc.jsonValue()), async (body) => {
      const { status, faults } = await send(body);
      expect(faults).toEqual([]);
      expect(status).toBeLessThan(500);
    }),
    { numRuns: 200 },
  );
}, 60_000);
