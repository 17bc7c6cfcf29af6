import type { Deps } from '../deps.ts';
import type { Exchange } from '../http/exchange.ts';
import { sendJson } from '../http/exchange.ts';
import { isJsonObject, textOf } from '../http/json.ts';
import type { Route } from '../http/router.ts';
import { xPlans } from '../x/app.ts';
import { countJobs } from '../x/compliance-api.ts';
import { dayToWire } from '../x/metering.ts';
import { buildPost } from '../x/post.ts';
import { publishPosts } from '../x/publish.ts';
import { badRequest, buildAll, findByToken, readBody, readOneOrMany } from './answers.ts';

export const xControlRoutes: readonly Route<Deps>[] = [
  ['POST', '/sandbox/x/posts', injectPosts],
  ['POST', '/sandbox/x/taken-down', takeDown],
  ['GET', '/sandbox/x/state', readState],
  ['GET', '/sandbox/x/log', readLog],
  ['POST', '/sandbox/x/plan', changePlan],
];

async function injectPosts(exchange: Exchange, deps: Deps): Promise<void> {
  const { clock, nextId } = deps;

  const inputs = await readOneOrMany(exchange, 'posts');
  const posts = buildAll(inputs, (input) => buildPost(input, { nowMs: clock.nowMs, nextId }));
  const publications = publishPosts(posts, deps);
  sendJson(exchange.response, 200, {
    posts: posts.map(({ id }, index) => {
      const matches = publications[index] ?? [];
      return {
        id,
        matching_rules: matches.map(({ token, ruleIds }) => ({ token, rule_ids: ruleIds })),
        delivered: matches.length > 0 && matches.every(({ delivered }) => delivered),
      };
    }),
  });
}

const takenDownReasons = ['deleted', 'bounced', 'protected', 'suspended', 'scrub_geo'];

/** As when an author deletes a post: search does not find it any more, and a job of batch compliance says why. */
async function takeDown(exchange: Exchange, { archive }: Deps): Promise<void> {
  const posts = buildAll(await readOneOrMany(exchange, 'posts'), (input) => {
    if (!isJsonObject(input)) return 'is not an object.';
    const { id, reason = 'deleted' } = input;
    if (typeof id !== 'string' || !takenDownReasons.includes(textOf(reason)))
      return `has an id, and a reason of ${takenDownReasons.join(', ')}.`;
    return { id, reason: textOf(reason) };
  });
  for (const { id, reason } of posts) archive.takeDown(id, reason);
  sendJson(exchange.response, 200, { posts });
}

function readState(exchange: Exchange, { apps }: Deps): void {
  const app = findByToken(exchange, apps.values());
  const open = app.connections.open();
  sendJson(exchange.response, 200, {
    token: app.token,
    plan: app.plan,
    rules: app.rules.list().map(({ id, value, tag }) => ({ id, value, tag })),
    connections: { open: open.length, stalled: open.filter((one) => one.pipe.isStalled()).length },
    rule_calls: { list: app.limits.list.count(), change: app.limits.change.count() },
    searches: app.limits.search.count(),
    archive_searches: app.limits.searchAll.count(),
    counts: app.limits.countsRecent.count(),
    archive_counts: app.limits.countsAll.count(),
    compliance_jobs: countJobs(app),
    connections_total: app.connections.total(),
    counters: app.journal.counts(),
    metering: app.meter.days().map(dayToWire),
    undelivered: app.journal.undelivered(),
    unconfirmed: app.journal.unconfirmed(),
  });
}

const logLimitMax = 10_000;

function readLog(exchange: Exchange, { apps }: Deps): void {
  const app = findByToken(exchange, apps.values());
  const after = Number(exchange.query.get('after') ?? 0);
  const limit = Number(exchange.query.get('limit') ?? logLimitMax);
  if (!Number.isInteger(after) || !Number.isInteger(limit))
    throw badRequest('after and limit are whole numbers.');
  const entries = app.journal.after(after, Math.min(limit, logLimitMax));
  sendJson(exchange.response, 200, {
    posts: entries.map(({ seq, id, text, author, createdAt, ruleIds, delivered }) => ({
      seq,
      id,
      text,
      author,
      created_at: createdAt,
      rule_ids: ruleIds,
      delivered,
    })),
    next_after: entries.at(-1)?.seq ?? after,
  });
}

async function changePlan(exchange: Exchange, { apps }: Deps): Promise<void> {
  const app = findByToken(exchange, apps.values());
  const wanted = (await readBody(exchange))['plan'];
  const plan = xPlans.find((known) => known === wanted);
  if (plan === undefined) throw badRequest(`plan is one of ${xPlans.join(', ')}.`);
  app.plan = plan;
  sendJson(exchange.response, 200, { token: app.token, plan });
}
