import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { openChannel } from './channel.ts';
import { createMcpServer, type McpServerOptions } from './server.ts';

/** Over stdin and stdout of this process, which then belong to the protocol alone. */
export function serveMcpOverStdio(options: McpServerOptions): AsyncDisposable {
  const ended = new AbortController();
  const { channel: reader, earshot, onFault } = options;
  const served = serveStdio(
    () => {
      const server = createMcpServer(options);
      if (reader !== undefined)
        server.server.oninitialized = () => {
          const { signal } = ended;
          openChannel(server, { earshot, reader, signal }).catch((error: unknown) => {
            if (!signal.aborted) onFault(error);
          });
        };
      return server;
    },
    {
      // The SDK's own words are pages long.
      onerror: (cause) => onFault(new Error('Left out what is no message of the protocol.', { cause })),
    },
  );
  return {
    async [Symbol.asyncDispose]() {
      ended.abort();
      await served.close();
    },
  };
}
