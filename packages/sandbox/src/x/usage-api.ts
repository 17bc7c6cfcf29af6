import type { Deps } from '../deps.ts';
import { type Exchange, sendJson } from '../http/exchange.ts';
import { admit } from './access.ts';
import { postsReadOn } from './metering.ts';

/** GET /2/usage/tweets (x.md §8.1): numbers are strings. Up to date at once, unlike the real one. */
export function readUsage(exchange: Exchange, { apps }: Deps): void {
  const app = admit(exchange, apps, 'usage');
  if (app.knobs.usage === 'not_enrolled') throw app.problems.notEnrolled(app.clientAppId);
  const usage = app.meter
    .days()
    .reduce((sum, day) => sum + postsReadOn(day, app.knobs.expansions === 'billed'), 0);
  sendJson(exchange.response, 200, {
    data: { cap_reset_day: 1, project_cap: '3000000', project_id: '1', project_usage: String(usage) },
  });
}
