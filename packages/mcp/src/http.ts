import type { Earshot } from '@earshot/sdk';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { createMcpServer, type McpServerOptions } from './server.ts';

/**
 * Without sessions: each request gets a server of its own, so any node can answer it. Clients of the protocols of 2025 are
 * served in the same way, their GET and DELETE, which are about sessions, are refused with 405. Nothing that clients could
 * subscribe to ever changes, so subscriptions are refused rather than kept open.
 */
export function createMcpOverHttp(options: Omit<McpServerOptions, 'earshot'>) {
  const senders = new WeakMap<Request, Earshot>();
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const earshot = requestInfo && senders.get(requestInfo);
      if (!earshot) throw new Error('a request reached the MCP server without a sender');
      return createMcpServer({ ...options, earshot });
    },
    { legacy: 'stateless', maxSubscriptions: 0 },
  );
  return {
    /** Answers one message of the protocol on behalf of this client's account. The caller has authenticated the request. */
    async answer(
      request: Request,
      { earshot, body }: { earshot: Earshot; body: unknown },
    ): Promise<Response> {
      if (Array.isArray(body)) return batchRefusal();
      senders.set(request, earshot);
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
