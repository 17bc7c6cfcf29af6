import type { Deps } from '../deps.ts';
import type { Exchange } from '../http/exchange.ts';
import { admit } from './access.ts';
import type { XApp } from './app.ts';
import { project, readProjection } from './projection.ts';

const windowMs = 24 * 3_600_000;
const recoveriesMax = 2;

/**
 * A stream request with `start_time` and `end_time` is a recovery: it sends the posts of that time that match the
 * current rules, oldest first, and closes. Enterprise only; it does not count as a connection.
 */
export function recover(exchange: Exchange, { apps, archive, clock }: Deps): void {
  const app = admit(exchange, apps, 'stream');
  const { fromMs, toMs, projection } = readJob(app, exchange.query, clock.nowMs());
  if (app.recoveries >= recoveriesMax) throw app.problems.tooManyConnections();
  app.recoveries += 1;
  const { response } = exchange;
  response.once('close', () => {
    app.recoveries -= 1;
  });
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
  for (const post of archive.between(fromMs, toMs)) {
    const rules = app.liveRules.matching(post);
    if (rules.length === 0) continue;
    const record = project(post, rules, projection);
    app.meter.count(clock.nowMs(), record);
    response.write(`${JSON.stringify(record)}\r\n`);
  }
  response.end();
}

function readJob(app: XApp, query: Exchange['query'], nowMs: number) {
  const refuse = (name: string) => app.problems.invalidParameter(name, query.get(name));
  if (app.plan === 'payg') throw refuse('start_time');
  const [fromMs, toMs] = ['start_time', 'end_time'].map((name) => Date.parse(query.get(name) ?? ''));
  if (fromMs === undefined || !(fromMs >= nowMs - windowMs)) throw refuse('start_time');
  if (toMs === undefined || !(toMs > fromMs)) throw refuse('end_time');
  const projection = readProjection(query, app.problems, { otherParameters: ['start_time', 'end_time'] });
  return { fromMs, toMs, projection };
}
