import { createMcpOverHttp } from '@earshot/mcp';
import { createEarshot } from '@earshot/sdk';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Authenticate } from '../accounts/authenticate.ts';
import type { RateLimits } from '../accounts/rate-limits.ts';
import type { Logger } from '../observability/logger.ts';
import { Failure } from '../runtime/failure.ts';
import type { InnerCalls } from './inner-calls.ts';

export interface McpOptions {
  readonly authenticate: Authenticate;
  readonly limits: RateLimits;
  readonly log: Logger;
  /** Web pages of these origins may call; programs send no `Origin`. */
  readonly mcpOrigins: readonly string[];
  readonly innerCalls: InnerCalls;
}

/** Longer than a call that waits for matches, shorter than what the clients of agents wait for. */
const callMs = 45_000;

/**
 * The tools of the MCP server at `/mcp`. They reach the operations through this very server, as any caller does: so keys,
 * scopes, limits, audit and idempotency are decided in one place, and no tool can do what its key cannot.
 */
export function addMcp(app: FastifyInstance, options: McpOptions): void {
  const { authenticate, limits, log, mcpOrigins, innerCalls } = options;
  const mcp = createMcpOverHttp({
    onFault: (error) => log.error({ err: error }, 'a tool failed by our fault'),
  });
  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    config: { operation: 'Mcp' },
    onRequest: async (request, reply) => {
      assertOrigin(request.headers.origin, mcpOrigins);
      const principal = await authenticate(request.headers.authorization, request.ip);
      const admission = limits.admit(principal, { changes: false });
      reply.headers(admission.headers);
      if (admission.refusal) throw admission.refusal;
      // Under way is what the tool asks for: counted here as well, a call would stand in its own way.
      admission.release();
    },
    handler: async (request, reply) => {
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      const asked = new Request(new URL(request.url, 'http://earshot.invalid'), {
        method: request.method,
        headers: headersOf(request),
        signal: gone.signal,
      });
      const earshot = createEarshot({
        url: 'http://earshot.invalid',
        key: keyOf(request),
        timeoutMs: callMs,
        fetch: innerCalls.fetchFor(request),
      });
      const response = await mcp.answer(asked, { earshot, body: request.body });
      return reply.send(response);
    },
  });
}

/** What a page of somebody else's site sends through a browser bears that site's origin. */
function assertOrigin(origin: string | undefined, allowed: readonly string[]): void {
  if (origin === undefined || allowed.includes(origin)) return;
  throw new Failure(
    'permission_denied',
    'Web pages of this origin may not call /mcp: the operator can list it in EARSHOT_MCP_ORIGINS.',
  );
}

/** For the protocol, which has no use for the key. */
function headersOf({ headers }: FastifyRequest): Headers {
  const copied = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && name !== 'authorization') copied.set(name, value);
  }
  return copied;
}

/** `authenticate` has taken it already. */
function keyOf({ headers }: FastifyRequest): string {
  return headers.authorization?.slice('Bearer '.length) ?? '';
}
