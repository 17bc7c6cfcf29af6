import type { Deps } from '../deps.ts';
import type { Exchange } from '../http/exchange.ts';
import type { XApp, XLimit } from './app.ts';
import { tooManyRequests, unauthorized } from './problems.ts';

/** The app of the bearer token (x.md §5.1), once the call is counted. */
export function admit(exchange: Exchange, apps: Deps['apps'], limit: XLimit): XApp {
  const app = apps.get(exchange.bearer ?? '');
  if (app === undefined) throw unauthorized();
  switch (app.plan) {
    case 'free':
      throw app.problems.notEnrolled(app.clientAppId);
    case 'out_of_credit':
      throw app.problems.creditsDepleted();
    case 'spend_cap':
      throw app.problems.spendCapReached();
    case 'usage_cap':
      throw app.problems.usageCapExceeded();
    case 'payg':
    case 'enterprise':
    case 'embedding':
      countCall(exchange, app, limit);
      return app;
  }
}

/** Sets the rate limit headers, which every response carries (x.md §5.5). */
function countCall({ response }: Exchange, app: XApp, limit: XLimit): void {
  const verdict = app.limits[limit].take();
  response.setHeader('x-rate-limit-limit', String(verdict.limit));
  response.setHeader('x-rate-limit-remaining', String(verdict.remaining));
  response.setHeader('x-rate-limit-reset', String(Math.ceil(verdict.resetAtMs / 1_000)));
  if (!verdict.allowed) throw tooManyRequests();
}
