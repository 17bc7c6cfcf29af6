import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';

/**
 * The lowest cost of a delivery: node:http, and one `write` of as many bytes to the socket of each stream. It has no matches,
 * rules or keys, reads nothing and never waits. It prints its port, and begins to write at the first line of its input.
 */
const { values: given } = parseArgs({
  options: {
    follow: { type: 'string', default: 'account' },
    rate: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '10' },
    bytes: { type: 'string', default: '1000' },
  },
});
const rate = Number(given.rate);
const batchMs = 50;
const streams: ServerResponse[] = [];

const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream', connection: 'close' });
  response.write('event: open\ndata: {}\n\n');
  streams.push(response);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
process.stdin.once('data', () => void writeAll());

async function writeAll(): Promise<void> {
  const startedAt = performance.now();
  let sent = 0;
  let next = 0;
  while (performance.now() - startedAt < Number(given.seconds) * 1_000) {
    const due = Math.floor(((performance.now() - startedAt) / 1_000) * rate) - sent;
    for (let n = 0; n < due; n++) {
      const event = eventOf(Number(given.bytes));
      if (given.follow === 'account') for (const { socket } of streams) socket?.write(event);
      else streams[next++ % streams.length]?.socket?.write(event);
    }
    sent += due;
    await new Promise((resolve) => setTimeout(resolve, batchMs));
  }
  process.stdout.write(`${given.follow === 'account' ? sent * streams.length : sent}\n`);
}

function eventOf(bytes: number): Buffer {
  const head = `data: {"text":"at ${Date.now()} `;
  return Buffer.from(`${head.padEnd(bytes - 4, 'x')}"}\n\n`);
}
