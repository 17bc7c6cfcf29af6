import type { Scope } from '@earshot/contract';
import { createEarshot } from '@earshot/sdk';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpOverHttp } from '../src/http.ts';

export interface InProcess extends AsyncDisposable {
  readonly client: Client;
  /** The raw answers of the server. */
  readonly answers: string[];
  readonly faults: unknown[];
}

/** Connects a real client and a real server without a socket. `api` stands in for Earshot's HTTP interface. */
export async function connectInProcess(
  api: typeof fetch,
  mode: { pin: string } | 'legacy' = { pin: '2026-07-28' },
  /** The answer of the user. Without it, the client does not support questions. */
  user?: (question: string) => 'accept' | 'decline' | 'cancel',
  scopes?: readonly Scope[],
): Promise<InProcess> {
  const earshot = createEarshot({
    url: 'http://earshot.invalid',
    key: 'esk_test',
    fetch: api,
    timeoutMs: 1_000,
  });
  const faults: unknown[] = [];
  const answers: string[] = [];
  const mcp = createMcpOverHttp({
    confirmAboveUsd: 5,
    onFault: (error) => faults.push(error),
  });
  const capabilities = user ? { elicitation: {} } : {};
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode }, capabilities });
  if (user)
    client.setRequestHandler('elicitation/create', async ({ params }) => ({ action: user(params.message) }));
  await client.connect(
    new StreamableHTTPClientTransport(new URL('http://earshot.invalid/mcp'), {
      fetch: async (input, init) => {
        const body: unknown = typeof init?.body === 'string' ? JSON.parse(init.body) : undefined;
        const response = await mcp.answer(new Request(input, init), { earshot, scopes, body });
        answers.push(await response.clone().text());
        return response;
      },
    }),
  );
  return { client, answers, faults, [Symbol.asyncDispose]: () => client.close() };
}

export function jsonAnswer(body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
}
