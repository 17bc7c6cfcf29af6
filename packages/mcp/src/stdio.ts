import type { Earshot } from '@earshot/sdk';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createEstimateTokens } from './content/estimate-tokens.ts';
import { createMcpServer } from './server.ts';

/** Over stdin and stdout of this process, which then belong to the protocol alone. */
export function serveMcpOverStdio(options: {
  readonly earshot: Earshot;
  readonly onFault: (error: unknown) => void;
}): AsyncDisposable {
  const estimateTokens = createEstimateTokens();
  const served = serveStdio(() => createMcpServer({ ...options, estimateTokens }), {
    onerror: options.onFault,
  });
  return { [Symbol.asyncDispose]: () => served.close() };
}
