import type { Clock } from '../clock.ts';
import type { Faults } from '../faults.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Random } from '../random.ts';
import type { XApp, XLimit } from './app.ts';
import type { Archive } from './archive.ts';
import { tooManyRequests, unauthorized } from './problems.ts';

export type XApps = ReadonlyMap<string, XApp>;

export interface XDeps {
  readonly apps: XApps;
  readonly archive: Archive;
  readonly clock: Clock;
  readonly random: Random;
  readonly faults: Faults;
  readonly backlogBytesMax: number;
}

/** The app of the bearer token (x.md §5.1). */
export function authenticate({ bearer }: Exchange, apps: XApps): XApp {
  const app = apps.get(bearer ?? '');
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
      return app;
  }
}

/** Counts the call and sets the rate limit headers, which every response carries (x.md §5.5). */
export function countCall({ response }: Exchange, app: XApp, limit: XLimit): void {
  const verdict = app.limits[limit].take();
  response.setHeader('x-rate-limit-limit', String(verdict.limit));
  response.setHeader('x-rate-limit-remaining', String(verdict.remaining));
  response.setHeader('x-rate-limit-reset', String(Math.ceil(verdict.resetAtMs / 1_000)));
  if (!verdict.allowed) throw tooManyRequests();
}
