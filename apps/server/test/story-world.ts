import type { AnswerOf, RequestOf } from '@earshot/contract';
import type { Template } from '@earshot/testkit';
import type { LogEvent } from '../src/event-log/event-log.ts';
import { createParsedRules } from '../src/language/explain-match.ts';
import { createMatchStore } from '../src/matching/match-store.sql.ts';
import { createFollowing } from '../src/readers/follow-matches.ts';
import { listMatches } from '../src/readers/list-matches.ts';
import { createMatchReader } from '../src/readers/match-reader.sql.ts';
import { openMatchTail } from '../src/readers/match-tail.ts';
import { createTailReader } from '../src/readers/tail-reader.sql.ts';
import { createViews } from '../src/readers/views.ts';
import { createRuleStore } from '../src/rules/rule-store.sql.ts';
import { createCursors } from '../src/runtime/cursor.ts';
import { callOf } from './call-of.ts';
import { createLocalBells } from './local-bells.ts';
import { xEvent, xMatch } from './stream-events.ts';
import { openTestDatabase, seedRules, silentTelemetry } from './support.ts';

/** A post, and what it shares with other posts. */
export interface StoryPost {
  readonly n: number;
  readonly link?: string;
  readonly quotes?: number;
  readonly text?: string;
  readonly author?: string;
  readonly day?: string;
  /** Default: rule 1 of the first account. */
  readonly rules?: readonly string[];
}

export function storyEvent({ n, link, quotes, text = `short ${n}`, author, day }: StoryPost): LogEvent {
  const { key, payload, ...event } = xEvent(n);
  const data = {
    id: key,
    text,
    conversation_id: key,
    entities: { urls: link === undefined ? [] : [{ expanded_url: link }] },
    ...(quotes !== undefined && { referenced_tweets: [{ type: 'quoted', id: xEvent(quotes).key }] }),
  };
  const writer = author === undefined ? null : { id: `id of ${author}`, name: null, handle: author };
  return {
    ...event,
    key,
    day: day ?? event.day,
    payload: { ...payload, text, author: writer, raw: { data } },
  };
}

export function storyMatches(post: StoryPost) {
  return (post.rules ?? ['rule_1']).map((rule) =>
    xMatch(storyEvent(post), rule, rule.startsWith('other') ? 'acc_2' : 'acc_1'),
  );
}

/** Two accounts, with the rules `rule_1` to `rule_3` and `other_1`. */
export async function openStoryWorld(template: Template) {
  await using stack = new AsyncDisposableStack();
  const clone = stack.use(await template.clone());
  const database = stack.use(openTestDatabase(clone.url));
  await seedRules(database, 3);
  await database.run(`insert into accounts (id, name, plan) values ('acc_2', 'two', 'paid')`);
  await database.run(
    `insert into rules (id, account_id, name, intent, state) values ('other_1', 'acc_2', 'rule', 'test', 'active')`,
  );
  const store = createMatchStore(database);
  const parsedRules = createParsedRules();
  const reader = createMatchReader(database);
  const bells = createLocalBells();
  const tail = await openMatchTail({
    reader: createTailReader(database),
    parsedRules,
    bells,
    telemetry: silentTelemetry(),
  });
  const stop = new AbortController();
  const running = tail.worker.run(stop.signal);
  stack.defer(async () => {
    stop.abort();
    await running;
  });
  const views = createViews({ database, hasJudge: false });
  const cursors = createCursors(Buffer.alloc(32));
  const following = createFollowing({ tail, reader, parsedRules });
  const rules = createRuleStore(database);
  const coverage = async () => ({ complete_through: null, gaps: [] });
  const list = listMatches({ database, reader, rules, coverage, cursors, following, views });
  const all = stack.move();
  return {
    database,
    url: clone.url,
    store,
    views,
    cursors,
    following,
    reader,
    rules,
    coverage,
    /** Stores the matches of each batch in one transaction. */
    async write(...batches: ReadonlyArray<readonly StoryPost[]>): Promise<void> {
      for (const posts of batches) {
        await store.makeDays(posts.flatMap(({ day }) => day ?? []));
        await store.write(posts.map(storyEvent), posts.flatMap(storyMatches), [], []);
        bells.ring('matches');
      }
    },
    list: (
      request: Partial<RequestOf<'ListMatches'>> = {},
      accountId = 'acc_1',
    ): Promise<AnswerOf<'ListMatches'>> =>
      list(callOf('ListMatches', { order: 'newest', limit: 50, ...request }, accountId)),
    /** The posts of each story with more than one match, by account. */
    async stories(): Promise<string[]> {
      const rows = await database.many<{ account_id: string; posts: string[] }>(
        `select members.account_id, array_agg(event_key || ' ' || members.rule_id order by event_key, members.rule_id) as posts
         from story_members members left join stories on stories.id = story_id
         join matches on matches.position = members.position
         group by members.account_id, coalesce(merged_into, story_id)`,
      );
      const first = BigInt(xEvent(0).key);
      const nameOf = (post: string) => {
        const [key = '', rule] = post.split(' ');
        return `${BigInt(key) - first}${rule === 'rule_1' || rule === 'other_1' ? '' : ` ${rule}`}`;
      };
      return rows.map(({ account_id, posts }) => `${account_id}: ${posts.map(nameOf).join(', ')}`).toSorted();
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

export type StoryWorld = Awaited<ReturnType<typeof openStoryWorld>>;

export const textsOf = ({ matches }: Pick<AnswerOf<'ListMatches'>, 'matches'>) =>
  matches.map(({ payload }) => Number(payload.text?.split(' ')[1]));
