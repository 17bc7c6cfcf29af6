import { once } from 'node:events';
import { connect } from 'node:net';

/**
 * One request over the bare NATS protocol, so that this package needs no client:
 * https://docs.nats.io/reference/reference-protocols/nats-protocol
 * Without a leader there is no answer, so idempotent requests are repeated after a short timeout.
 */
export async function jetStreamRequest(
  url: string,
  subject: string,
  payload: unknown,
  patienceMs = 60_000,
): Promise<unknown> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const body = JSON.stringify(payload);
  socket.write('CONNECT {"verbose":false}\r\nSUB reply 1\r\n');
  socket.write(`PUB ${subject} reply ${Buffer.byteLength(body)}\r\n${body}\r\n`);
  const signal = AbortSignal.timeout(patienceMs);
  try {
    let received = '';
    for (;;) {
      const [chunk] = await once(socket, 'data', { signal });
      received += String(chunk);
      const answer = /^MSG reply 1 \d+\r\n(.*)\r\n/m.exec(received)?.[1];
      if (answer !== undefined) return JSON.parse(answer);
      const refusal = /^-ERR '(.*)'/m.exec(received)?.[1];
      if (refusal !== undefined) throw new Error(refusal);
    }
  } finally {
    socket.destroy();
  }
}
