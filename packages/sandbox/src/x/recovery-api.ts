import type { Clock } from '../clock.ts';
import type { Exchange, Handler } from '../http/exchange.ts';
import { authenticate, countCall, type XApps } from './access.ts';
import type { XApp } from './app.ts';
import type { Archive } from './archive.ts';
import { project, readProjection } from './projection.ts';

export interface XRecoveryDeps {
  readonly apps: XApps;
  readonly archive: Archive;
  readonly clock: Clock;
}

const windowMs = 24 * 3_600_000;
const jobsMax = 2;

/**
 * A stream request with `start_time` and `end_time` replays what the rules of now match in that time, oldest first,
 * and closes. Enterprise only; it takes no slot of the stream.
 */
export function streamOrRecovery(openStream: Handler, { apps, archive, clock }: XRecoveryDeps): Handler {
  const jobs = new Map<XApp, number>();
  return (exchange) => {
    if (!exchange.query.has('start_time')) return openStream(exchange);
    const app = authenticate(exchange, apps);
    countCall(exchange, app, 'stream');
    const { fromMs, toMs, projection } = readJob(app, exchange.query, clock.nowMs());
    if ((jobs.get(app) ?? 0) >= jobsMax) throw app.problems.tooManyConnections();
    jobs.set(app, (jobs.get(app) ?? 0) + 1);
    const { response } = exchange;
    response.once('close', () => jobs.set(app, (jobs.get(app) ?? 1) - 1));
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
    for (const post of archive.between(fromMs, toMs)) {
      const rules = app.live.matching(post);
      if (rules.length === 0) continue;
      app.meter.count(clock.nowMs(), post.id, { users: [], posts: [] });
      response.write(`${JSON.stringify(project(post, rules, projection))}\r\n`);
    }
    response.end();
  };
}

function readJob(app: XApp, query: Exchange['query'], nowMs: number) {
  const refuse = (name: string) =>
    app.problems.invalidRequest(`The parameter ${name} is not valid here.`, { [name]: [query.get(name)] });
  if (app.plan === 'payg') throw refuse('start_time');
  const [fromMs, toMs] = ['start_time', 'end_time'].map((name) => Date.parse(query.get(name) ?? ''));
  if (fromMs === undefined || !(fromMs >= nowMs - windowMs)) throw refuse('start_time');
  if (toMs === undefined || !(toMs > fromMs)) throw refuse('end_time');
  const fields = new URLSearchParams([...query].filter(([name]) => !name.endsWith('_time')));
  const projection = readProjection(fields);
  if ('parameter' in projection) throw refuse(projection.parameter);
  return { fromMs, toMs, projection };
}
