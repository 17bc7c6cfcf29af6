import type { XApps } from './access.ts';
import type { XApp } from './app.ts';
import type { XPost } from './post.ts';
import type { XRule } from './rule-set.ts';

export interface Publication {
  readonly token: string;
  readonly ruleIds: string[];
  readonly delivered: boolean;
}

/** Sends each Post to every App with a matching rule. Returns who got what, per Post. */
export function publishPosts(posts: readonly XPost[], apps: XApps, nowMs: number): Publication[][] {
  const connections = [...apps.values()].flatMap((app) => app.slots.open());
  for (const app of apps.values()) dropSlowReaders(app);
  for (const connection of connections) connection.cork();
  try {
    return posts.map((post) =>
      [...apps.values()].flatMap((app) => {
        const rules = app.live.matching(post);
        return rules.length === 0 ? [] : [publishTo(app, post, rules, nowMs)];
      }),
    );
  } finally {
    for (const connection of connections) connection.uncork();
  }
}

function publishTo(app: XApp, post: XPost, rules: XRule[], nowMs: number): Publication {
  const ruleIds = rules.map(({ id }) => id);
  const receivers = app.slots.open().filter((connection) => connection.deliver(post, rules));
  const delivered = receivers.length > 0;
  for (const { projection } of receivers) {
    const { expansions } = projection;
    app.meter.count(nowMs, post.id, {
      users: expansions.has('author_id') ? [String(post.data['author_id'])] : [],
      posts: expansions.has('referenced_tweets.id') ? post.includes.tweets.map(({ id }) => String(id)) : [],
    });
  }
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

/** X drops a client that does not keep up, together with what it had buffered for it (x.md §5.6). */
function dropSlowReaders({ slots }: XApp): void {
  for (const connection of slots.open())
    if (connection.isSlow()) slots.killConnection(connection, 'SlowReader');
}
