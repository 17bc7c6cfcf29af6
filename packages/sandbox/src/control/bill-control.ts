import type { Deps } from '../deps.ts';
import { matchMicroUsd } from '../firehose/organization.ts';
import { type Exchange, sendJson } from '../http/exchange.ts';
import type { Route } from '../http/router.ts';
import { billToWire, dayToWire, sumOfDays } from '../x/metering.ts';
import { findByToken } from './answers.ts';

/** The bill per day in millionths of a dollar, exact for tests. */
export const billControlRoutes: readonly Route<Deps>[] = [
  ['GET', '/sandbox/x/bill', readXBill],
  ['GET', '/sandbox/firehose/bill', readFirehoseBill],
];

function readXBill(exchange: Exchange, { apps }: Deps): void {
  const { token, meter, knobs } = findByToken(exchange, apps.values());
  const days = meter.days();
  const total = sumOfDays(days);
  sendJson(exchange.response, 200, {
    token,
    days: days.map(dayToWire),
    total: billToWire(total),
    expansions: knobs.expansions,
    billed_micro_usd: knobs.expansions === 'billed' ? total.microUsd.max : total.microUsd.min,
  });
}

function readFirehoseBill(exchange: Exchange, { organization }: Deps): void {
  const { token, meter } = findByToken(exchange, organization.taps.values());
  const toWire = (pages: number) => ({ pages, micro_usd: pages * matchMicroUsd });
  sendJson(exchange.response, 200, {
    token,
    days: meter.days().map(({ date, pages }) => ({ date, ...toWire(pages) })),
    total: toWire(meter.pagesCharged()),
    events_delivered: meter.eventsDelivered(),
    balance_micro_usd: organization.balanceMicroUsd,
  });
}
