import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { openChannel } from './channel.ts';
import { createMcpServer, type McpServerOptions } from './server.ts';

/** Serves MCP over stdin and stdout. The process must not use them for anything else. */
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
      // The SDK's own message is pages long.
      onerror: (cause) => onFault(new Error('Ignored input that is not a protocol message.', { cause })),
    },
  );
  return {
    async [Symbol.asyncDispose]() {
      ended.abort();
      await served.close();
    },
  };
}
