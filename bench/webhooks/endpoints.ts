import { createServer, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

export interface EndpointsReport {
  readonly messages: number;
  readonly latencies: readonly number[];
}

/**
 * Many endpoints, each on its own port, that accept every message. Bare sockets, because they share two cores with the measured
 * sender. Reports what arrived, and how old each match was.
 */
const { endpoints }: { endpoints: number } = workerData;
const accepted = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
const endOfHead = Buffer.from('\r\n\r\n');
let messages = 0;
let latencies: number[] = [];

function answer(socket: Socket): void {
  let rest = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const head = rest.indexOf(endOfHead);
      if (head < 0) return;
      const bytes = Number(/content-length: (\d+)/i.exec(rest.toString('latin1', 0, head))?.[1]);
      const end = head + endOfHead.length + bytes;
      if (rest.length < end) return;
      const now = Date.now();
      const body = rest.toString('latin1', head, end);
      for (const [, at] of body.matchAll(/"text":"at (\d{13}) /g)) latencies.push(now - Number(at));
      messages += 1;
      rest = rest.subarray(end);
      socket.write(accepted);
    }
  });
}

const ports = await Promise.all(
  Array.from(
    { length: endpoints },
    () =>
      new Promise<number>((resolve) => {
        const server = createServer(answer).listen(0, '127.0.0.1', () => {
          const address = server.address();
          resolve(typeof address === 'object' && address ? address.port : 0);
        });
      }),
  ),
);
parentPort?.postMessage({ ports });
setInterval(() => {
  const report: EndpointsReport = { messages, latencies };
  parentPort?.postMessage(report);
  messages = 0;
  latencies = [];
}, 100);
