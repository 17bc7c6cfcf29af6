import type { Deps } from '../deps.ts';
import { type Exchange, sendJson } from '../http/exchange.ts';
import { admit } from './access.ts';
import type { XApp } from './app.ts';
import { postsReadOn } from './metering.ts';

const dayMs = 24 * 3_600_000;
const daysMax = 90;
const projectId = '1';
const defaultFields = ['cap_reset_day', 'project_cap', 'project_id', 'project_usage'];
const allFields = new Set([...defaultFields, 'daily_project_usage', 'daily_client_app_usage']);

/** GET /2/usage/tweets (x.md §8.1): numbers are strings. Up to date at once, unlike the real one. */
export function readUsage(exchange: Exchange, { apps, clock }: Deps): void {
  const app = admit(exchange, apps, 'usage');
  if (app.knobs.usage === 'not_enrolled') throw app.problems.notEnrolled(app.clientAppId);
  const { days, fields } = readParameters(app, exchange.query);
  const daily = dailyUsage(app, clock.nowMs(), days);
  const all: Record<string, unknown> = {
    cap_reset_day: 1,
    project_cap: '3000000',
    project_id: projectId,
    project_usage: String(usageByDate(app).reduce((sum, [, posts]) => sum + posts, 0)),
    daily_project_usage: { project_id: projectId, usage: daily },
    daily_client_app_usage: [
      { client_app_id: app.clientAppId, usage_result_count: daily.length, usage: daily },
    ],
  };
  sendJson(exchange.response, 200, {
    data: Object.fromEntries(fields.map((field) => [field, all[field]])),
  });
}

function readParameters({ problems }: XApp, query: Exchange['query']): { days: number; fields: string[] } {
  const unknown = [...query.keys()].find((name) => name !== 'days' && name !== 'usage.fields');
  if (unknown !== undefined) throw problems.invalidParameter(unknown, query.get(unknown));
  const days = Number(query.get('days') ?? 7);
  if (!Number.isInteger(days) || days < 1 || days > daysMax)
    throw problems.invalidParameter('days', query.get('days'));
  const fields = query.get('usage.fields')?.split(',') ?? defaultFields;
  if (!fields.every((field) => allFields.has(field)))
    throw problems.invalidParameter('usage.fields', query.get('usage.fields'));
  return { days, fields };
}

/** Posts read, by UTC day. Calls of counts are no posts. */
function usageByDate(app: XApp): Array<[date: string, posts: number]> {
  const withExpansions = app.knobs.expansions === 'billed';
  return app.meter.days().map((day) => [day.date, postsReadOn(day, withExpansions)]);
}

/** Each of the last days, also those without usage, oldest first. */
function dailyUsage(app: XApp, nowMs: number, days: number): Array<{ date: string; usage: string }> {
  const known = new Map(usageByDate(app));
  return Array.from({ length: days }, (_, place) => {
    const date = new Date(nowMs - (days - 1 - place) * dayMs).toISOString().slice(0, 10);
    return { date: `${date}T00:00:00.000Z`, usage: String(known.get(date) ?? 0) };
  });
}
