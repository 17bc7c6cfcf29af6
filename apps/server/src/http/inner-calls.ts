import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyInstance } from 'fastify';

/** Requests that the server sends to itself while it answers one: without a socket, through all its hooks and routes. */
export interface InnerCalls {
  /** Whether the request that is being handled is one of them. */
  isInner(): boolean;
  /** Asks as the caller of that request: from its address, and under its request id. */
  fetchFor(request: { readonly id: string; readonly ip: string }): typeof fetch;
}

export function createInnerCalls(app: FastifyInstance): InnerCalls {
  const caller = new AsyncLocalStorage<AbortSignal>();
  app.addHook('onRequest', async (_request, reply) => {
    // Nothing else says that nobody waits for the answer any more: `inject` forgets its signal once the body is read.
    const signal = caller.getStore();
    if (signal?.aborted) reply.raw.destroy();
    else signal?.addEventListener('abort', () => reply.raw.destroy(), { once: true });
  });
  return {
    isInner: () => caller.getStore() !== undefined,
    fetchFor:
      ({ id, ip }) =>
      async (input, init) => {
        const { pathname, search } = new URL(input instanceof Request ? input.url : input);
        const answer = await caller.run(init?.signal ?? new AbortController().signal, async () =>
          app.inject({
            method: init?.method === 'POST' ? 'POST' : 'GET',
            url: pathname + search,
            headers: { ...Object.fromEntries(new Headers(init?.headers)), 'x-request-id': id },
            remoteAddress: ip,
            ...(typeof init?.body === 'string' && { payload: init.body }),
          }),
        );
        const headers = Object.entries(answer.headers).map(([name, value]) => [name, String(value)] as const);
        return new Response(answer.rawPayload, {
          status: answer.statusCode,
          headers: Object.fromEntries(headers),
        });
      },
  };
}
