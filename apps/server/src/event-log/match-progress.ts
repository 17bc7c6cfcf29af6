import type { Nats } from '../engines/nats.ts';
import type { MatchProgress } from './await-matched.ts';
import { eventsStream, matchConsumer } from './events-stream.ts';

export function createMatchProgress({ manager }: Nats): MatchProgress {
  return {
    logged: async () => (await manager.streams.info(eventsStream)).state.last_seq,
    matched: async () => (await manager.consumers.info(eventsStream, matchConsumer)).ack_floor.stream_seq,
  };
}
