import type { Deps } from '../deps.ts';
import type { XApp } from './app.ts';
import type { XPost } from './post.ts';
import type { XRule } from './rule-set.ts';

/** Archives each post and sends it to every app with a matching rule. Returns the matches of each post. */
export function publishPosts(
  posts: readonly XPost[],
  { apps, archive, clock }: Pick<Deps, 'apps' | 'archive' | 'clock'>,
) {
  archive.add(posts);
  const connections = [...apps.values()].flatMap((app) => app.connections.open());
  for (const app of apps.values()) dropSlowReaders(app);
  for (const connection of connections) connection.pipe.cork();
  try {
    return posts.map((post) =>
      [...apps.values()].flatMap((app) => {
        const rules = app.liveRules.matching(post);
        return rules.length === 0 ? [] : [publishTo(app, post, rules, clock.nowMs())];
      }),
    );
  } finally {
    for (const connection of connections) connection.pipe.uncork();
  }
}

function publishTo(app: XApp, post: XPost, rules: XRule[], nowMs: number) {
  const ruleIds = rules.map(({ id }) => id);
  const records = app.connections
    .open()
    .map((connection) => connection.deliver(post, rules))
    .filter((record) => record !== undefined);
  const delivered = records.length > 0;
  for (const record of records) app.meter.count(nowMs, record);
  const author = String(post.includes.users[0]?.['username']);
  const { text, created_at: createdAt } = post.data;
  app.journal.record({
    id: post.id,
    text: String(text),
    author,
    createdAt: String(createdAt),
    ruleIds,
    delivered,
  });
  return { token: app.token, ruleIds, delivered };
}

/** X disconnects a client that does not keep up and discards its buffer (x.md §5.6). */
function dropSlowReaders({ connections }: XApp): void {
  for (const connection of connections.open())
    if (connection.isSlow()) connections.disconnect(connection, 'SlowReader');
}
