import type { Earshot } from '@earshot/sdk';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createMcpServer } from './server.ts';

/** Over stdin and stdout of this process, which then belong to the protocol alone. */
export function serveMcpOverStdio(options: {
  readonly earshot: Earshot;
  readonly onFault: (error: unknown) => void;
}): AsyncDisposable {
  const served = serveStdio(() => createMcpServer(options), {
    // The SDK's own words are pages long.
    onerror: (cause) => options.onFault(new Error('Left out what is no message of the protocol.', { cause })),
  });
  return { [Symbol.asyncDispose]: () => served.close() };
}
