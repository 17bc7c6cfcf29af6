import { operations, type Scope } from '@earshot/contract';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { createMcpServer, type McpServerOptions } from './server.ts';
import { tools } from './tools.ts';

/** The account's client, and the scopes of its key. */
type Sender = Pick<McpServerOptions, 'earshot' | 'scopes'>;

/**
 * Serves MCP without sessions: each request gets its own server, so any node can answer it. Clients of the 2025 protocols
 * are served in the same way. Their GET and DELETE, which manage sessions, are refused with 405. A subscription is acknowledged
 * as empty and ended, because nothing that clients could subscribe to ever changes.
 */
export function createMcpOverHttp(options: Omit<McpServerOptions, keyof Sender>) {
  const senders = new WeakMap<Request, Sender>();
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const sender = requestInfo && senders.get(requestInfo);
      if (!sender) throw new Error('a request reached the MCP server without a sender');
      return createMcpServer({ ...options, ...sender });
    },
    { legacy: 'stateless' },
  );
  return {
    /** Answers one message of the protocol on behalf of this client's account. The caller has authenticated the request. */
    async answer(
      request: Request,
      { body, ...sender }: Sender & { readonly body: unknown },
    ): Promise<Response> {
      if (Array.isArray(body)) return batchRefusal();
      senders.set(request, sender);
      return await handler.fetch(request, { parsedBody: body ?? null });
    },
  };
}

/**
 * Only the protocol of 2025-03-26 has batches. One request would count once against the limits and be answered a hundred
 * times.
 */
function batchRefusal(): Response {
  const message = 'Send one message per request: batches ended with the protocol version 2025-06-18.';
  return Response.json({ jsonrpc: '2.0', id: null, error: { code: -32600, message } }, { status: 400 });
}

const toolCall = z.object({ method: z.literal('tools/call'), params: z.object({ name: z.string() }) });

/** The scope that a message needs; null for those that need none. */
export function scopeOfCall(body: unknown): Scope | null {
  const called = toolCall.safeParse(body).data?.params.name;
  const tool = tools.find(({ name }) => name === called);
  return tool ? operations[tool.operation].scope : null;
}
