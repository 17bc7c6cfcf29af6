import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { listenOnLoopback } from '@earshot/testkit';

export interface HostileUpstream extends AsyncDisposable {
  readonly url: string;
  /** The resume position of each connection of a stream so far. */
  readonly opened: ReadonlyArray<string | null>;
  /** Sends bytes on the open stream. Firehose keeps items with an id, and sends them again to connections that resume before it. */
  send(bytes: string, id?: string): void;
  /** Ends the connection as the platform does, gracefully. */
  end(): void;
}

const opening = { x: '\r\n', firehose: 'event: connected\ndata: {}\n\n' };
const ending = { x: '', firehose: 'event: end\ndata: {}\n\n' };

/** An upstream that sends whatever a test wants: real HTTP with arbitrary bytes. */
export async function startHostileUpstream(platform: 'x' | 'firehose'): Promise<HostileUpstream> {
  const opened: Array<string | null> = [];
  const kept: Array<{ id: string; bytes: string }> = [];
  let stream: ServerResponse | null = null;
  const server = createServer((request, response) => {
    const after = request.headers['last-event-id']?.toString() ?? null;
    opened.push(after);
    stream = response.writeHead(200);
    const missed = kept.slice(kept.findIndex(({ id }) => id === after) + 1);
    response.write(opening[platform] + missed.map(({ bytes }) => bytes).join(''));
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    opened,
    send(bytes, id) {
      if (id !== undefined) kept.push({ id, bytes });
      stream?.write(bytes);
    },
    end: () => void stream?.end(ending[platform]),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
