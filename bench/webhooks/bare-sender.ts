import { createHmac, randomBytes } from 'node:crypto';
import { on } from 'node:events';
import { createInterface } from 'node:readline';
import { Agent, request } from 'undici';

/**
 * The lowest cost of a webhook message: signs a body of as many bytes and posts it with the client that the server uses. It reads and
 * records nothing. Its first line of input has the ports, the bytes, the messages a second and the seconds; it answers with the number
 * of messages.
 */
const lines = on(createInterface(process.stdin), 'line');
const order = JSON.parse(String((await lines.next()).value?.[0]));
const { ports, bytes, perSecond, seconds }: Record<string, number> & { ports: number[] } = order;
const agent = new Agent({ allowH2: false, pipelining: 1, keepAliveTimeout: 4_000 });
const secret = randomBytes(32);
const filler = 'x'.repeat(Math.max(0, Number(bytes) - 60));

async function send(port: number, nth: number): Promise<void> {
  const body = `{"type":"matches","matches":[{"text":"at ${Date.now()} ${filler}"}]}`;
  const id = `msg_${nth}`;
  const at = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac('sha256', secret).update(`${id}.${at}.${body}`).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'bare',
    'webhook-id': id,
    'webhook-timestamp': at,
    'webhook-signature': `v1,${signature}`,
  };
  const url = `http://127.0.0.1:${port}/`;
  const answer = await request(url, { method: 'POST', dispatcher: agent, headers, body });
  await answer.body.dump();
}

const startedAt = performance.now();
const sending = new Set<Promise<void>>();
let sent = 0;
while (performance.now() - startedAt < Number(seconds) * 1_000) {
  const due = Math.floor(((performance.now() - startedAt) / 1_000) * Number(perSecond)) - sent;
  for (let n = 0; n < due; n++) {
    const one: Promise<void> = send(ports[sent % ports.length] ?? 0, sent).finally(() => sending.delete(one));
    sending.add(one);
    sent += 1;
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
}
await Promise.all(sending);
process.stdout.write(`${sent}\n`);
process.exit();
