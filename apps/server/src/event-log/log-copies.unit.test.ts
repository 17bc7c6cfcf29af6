import { JetStreamApiError } from '@nats-io/jetstream';
import { TimeoutError } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import type { Nats } from '../engines/nats.ts';
import { createLogCopies } from './log-copies.ts';

/** The only copy of a log, which answers every request for a message like this. */
function openCopies(getMessage: () => Promise<null>) {
  const streams = { info: async () => ({}), getMessage };
  return createLogCopies({ manager: { streams, consumers: {} } } as unknown as Nats);
}

test('a message that a server cannot read is missing, but not one that it does not answer for', async () => {
  const damaged = new JetStreamApiError({ code: 500, err_code: 10_051, description: 'stream store EOF' });
  const copies = openCopies(() => Promise.reject(damaged));
  await expect(copies.fetch([1, 2])).resolves.toEqual({ found: [], missing: [1, 2] });
  const busy = openCopies(() => Promise.reject(new TimeoutError()));
  await expect(busy.fetch([1, 2])).rejects.toThrow(TimeoutError);
});
