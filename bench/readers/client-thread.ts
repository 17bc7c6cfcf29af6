import { connect, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import type { ClientReport, ClientsOptions } from './clients.ts';

/** Bare sockets, because the clients share two cores with the measured node. */
const { url, key, streams, stalled, follow }: ClientsOptions & { url: string; key: string } = workerData;
const { hostname, port } = new URL(url);
const connectingMax = 50;
let latencies: number[] = [];
let bytes = 0;

function report(message: ClientReport): void {
  parentPort?.postMessage(message, []);
}

/** Resolves at the first event. A stalling stream reads nothing after it. */
function openStream(number: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(Number(port), hostname);
    const query = follow === 'account' ? '' : `?rule_id=rule_${number <= stalled ? 0 : number - stalled}`;
    socket.write(
      `GET /matches/stream${query} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${key}\r\n\r\n`,
    );
    let opened = false;
    let rest = '';
    socket.on('data', (chunk) => {
      const now = Date.now();
      const text = rest + chunk.toString('latin1');
      if (!opened && text.includes('event: open')) {
        opened = true;
        if (number <= stalled) socket.pause();
        resolve();
      } else if (!opened && text.includes('\r\n\r\n') && !text.startsWith('HTTP/1.1 200')) {
        reject(new Error(`the node refused a stream: ${text.slice(0, 500)}`));
      }
      const end = text.lastIndexOf('\n\n');
      if (text.includes('"text":"at ')) bytes += chunk.length;
      for (const [, sentAt] of text.slice(0, Math.max(0, end)).matchAll(/"text":"at (\d{13}) /g)) {
        latencies.push(now - Number(sentAt));
      }
      rest = end < 0 ? text : text.slice(end);
    });
    socket.once('error', (error) => (opened ? undefined : reject(error)));
  });
}

const numbers = Array.from({ length: streams }, (_, index) => index + 1).values();
await Promise.all(
  Array.from({ length: connectingMax }, async () => {
    for (const number of numbers) await openStream(number);
  }),
);
report({ kind: 'open' });
setInterval(() => {
  report({ kind: 'counts', latencies, bytes });
  latencies = [];
  bytes = 0;
}, 200);
