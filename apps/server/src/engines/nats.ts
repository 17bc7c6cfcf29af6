import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';

export interface Nats extends AsyncDisposable {
  readonly connection: NatsConnection;
  readonly jetstream: ReturnType<typeof jetstream>;
  readonly manager: Awaited<ReturnType<typeof jetstreamManager>>;
}

/** Connects, and reconnects for as long as it takes: the process outlives an outage of NATS. */
export async function connectNats(url: string, name: string): Promise<Nats> {
  const connection = await connect({
    servers: url.split(','),
    name,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    waitOnFirstConnect: true,
    ignoreClusterUpdates: true,
    // Capturing a stack trace for every publish took a tenth of the CPU time.
    noAsyncTraces: true,
    // A server that hangs keeps its connections open and accepts new ones. After about 6 s without a pong the client
    // goes to another server, and it waits no longer than `timeout` for a server's greeting.
    pingInterval: 2_000,
    maxPingOut: 2,
    timeout: 2_000,
  });
  return {
    connection,
    jetstream: jetstream(connection, { timeout: 5_000 }),
    manager: await jetstreamManager(connection, { timeout: 5_000 }),
    async [Symbol.asyncDispose]() {
      if (!connection.isClosed()) await connection.drain();
    },
  };
}
