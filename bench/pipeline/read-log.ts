import { DeliverPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { unpackBodies } from '../../apps/server/src/event-log/event-message.ts';
import type { Engines } from '../start-engines.ts';

const stream = 'EVENTS';

/** The events of the server's event log, from where the last reading ended. */
export async function openLog({ nats }: Engines) {
  const connection = await connect({ servers: nats.url.split(','), ignoreClusterUpdates: true });
  const manager = await jetstreamManager(connection);
  let read = 0;
  return {
    async readOn(): Promise<{ bodies: string[]; messages: number }> {
      const { state } = await manager.streams.info(stream);
      const bodies: string[] = [];
      const messages = state.last_seq - read;
      if (messages === 0) return { bodies, messages };
      const source = await jetstream(connection).consumers.get(stream, {
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: read + 1,
      });
      for await (const message of await source.consume()) {
        bodies.push(...unpackBodies(message.string()));
        if (message.seq >= state.last_seq) break;
      }
      read = state.last_seq;
      return { bodies, messages };
    },
    [Symbol.asyncDispose]: () => connection.close(),
  };
}
