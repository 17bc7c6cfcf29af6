import type { OutgoingHttpHeaders } from 'node:http';
import type { Exchange } from '../http/exchange.ts';
import type { XApp, XLimit } from './app.ts';
import { tooManyRequests, unauthorized } from './problems.ts';

export type XApps = ReadonlyMap<string, XApp>;

/** The App of the bearer token; every way of being turned away is a Refusal (x.md §5.1). */
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
    case 'payg':
    case 'enterprise':
      return app;
  }
}

/** Counts the call; the headers belong on the answer, also on a refusal (x.md §5.5). */
export function countCall(app: XApp, limit: XLimit): OutgoingHttpHeaders {
  const verdict = app.limits[limit].take();
  const headers = {
    'x-rate-limit-limit': String(verdict.limit),
    'x-rate-limit-remaining': String(verdict.remaining),
    'x-rate-limit-reset': String(Math.ceil(verdict.resetAtMs / 1_000)),
  };
  if (!verdict.allowed) throw tooManyRequests(headers);
  return headers;
}
