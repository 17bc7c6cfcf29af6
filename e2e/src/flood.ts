import { Agent, get } from 'node:http';

/**
 * An abusive caller, in a process of its own so that it does not slow down who measures:
 *   node flood.ts <url> <key> <requests per second> <seconds>
 * Sends on time whether or not answers come, with at most 100 requests under way, and prints how many got which status.
 */
const [url = '', key = '', perSecondText = '', secondsText = ''] = process.argv.slice(2);
const perSecond = Number(perSecondText);
const endsAt = performance.now() + Number(secondsText) * 1_000;
const underWayMax = 100;
const agent = new Agent({ keepAlive: true, maxSockets: underWayMax });
const statuses: Record<string, number> = {};
let underWay = 0;
let sent = 0;

function send(): void {
  sent += 1;
  underWay += 1;
  const request = get(url, { agent, headers: { authorization: `Bearer ${key}` } }, (response) => {
    const status = String(response.statusCode);
    statuses[status] = (statuses[status] ?? 0) + 1;
    response.resume().once('close', () => {
      underWay -= 1;
    });
  });
  request.once('error', () => {
    underWay -= 1;
  });
}

const startedAt = performance.now();
const timer = setInterval(() => {
  const now = performance.now();
  if (now >= endsAt) {
    clearInterval(timer);
    console.log(JSON.stringify({ perSecond: Math.round((sent * 1_000) / (now - startedAt)), statuses }));
    agent.destroy();
    return;
  }
  const due = Math.floor(((now - startedAt) * perSecond) / 1_000);
  while (sent < due && underWay < underWayMax) send();
}, 10);
