import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';

export interface Nats extends AsyncDisposable {
  readonly connection: NatsConnection;
  readonly jetstream: ReturnType<typeof jetstream>;
  readonly manager: Awaited<ReturnType<typeof jetstreamManager>>;
}

/** Connects, and goes on reconnecting for ever: an engine that is away for a while is no reason to stop. */
export async function connectNats(url: string, name: string): Promise<Nats> {
  const connection = await connect({
    servers: url.split(','),
    name,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    waitOnFirstConnect: true,
    ignoreClusterUpdates: true,
    // A stack per publish, in case it fails, took a tenth of the processor.
    noAsyncTraces: true,
    // A node that hangs keeps its connections open, and accepts new ones: after some 6 s without an answer we go to
    // another one, and wait for a greeting no longer than this.
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
