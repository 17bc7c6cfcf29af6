import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createMcpServer, type McpServerOptions } from './server.ts';

/** Over stdin and stdout of this process, which then belong to the protocol alone. */
export function serveMcpOverStdio(options: McpServerOptions): AsyncDisposable {
  const served = serveStdio(() => createMcpServer(options), {
    // The SDK's own words are pages long.
    onerror: (cause) => options.onFault(new Error('Left out what is no message of the protocol.', { cause })),
  });
  return { [Symbol.asyncDispose]: () => served.close() };
}
