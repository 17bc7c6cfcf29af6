import { command } from '../command.ts';
import { usageFailure } from '../failure.ts';
import { loadLocal } from '../load-local.ts';
import { text } from '../options.ts';
import { jsonLine } from '../output/printable.ts';
import { databaseOf, databaseUrl } from './admin-command.ts';

export const forgetCommand = command({
  name: 'forget',
  summary: 'remove a post, a page, or everything of an author, with all matches, and never store it again',
  details:
    'While the nodes run, with the login that owns the tables. Everybody who follows matches, and every webhook, is told of each match that is gone. What an author publishes later is stored again. Everything that is stored is looked through: with millions of items that takes minutes, and may be repeated when it was interrupted.',
  options: {
    post: text('<id>', 'the item with this id on its platform'),
    url: text('<url>', 'the item at this URL'),
    author: text('<id or @handle>', 'all items of this author'),
    ...databaseUrl,
  },
  examples: [
    'earshot admin forget --post 1989472511223344556',
    'earshot admin forget --author @ferris',
    'earshot admin forget --url https://example.com/news/1',
  ],
  async run({ options: { post, url, author, 'database-url': given } }, { env, isJson, screen }) {
    const asked = [
      ...(post === undefined ? [] : [{ post }]),
      ...(url === undefined ? [] : [{ url }]),
      ...(author === undefined ? [] : [{ author }]),
    ];
    const [one] = asked;
    if (!one || asked.length > 1) throw usageFailure('Say what: --post, --url or --author, one of them.');
    const database = await databaseOf(given, env);
    const { onDatabase } = await loadLocal(() => import('../local/admin-work.ts'));
    const working = onDatabase(database, (admin) =>
      admin.forget(one, ({ day, items, matches }) =>
        screen.note(`Up to ${day}: ${items} items and ${matches} matches removed.`),
      ),
    );
    const { items, matches } = await screen.waitFor('Looking through what is stored', working);
    if (isJson) return screen.print(jsonLine({ items, matches }));
    screen.print(
      `${items} items and ${matches} matches are removed. What comes of it from now on is not stored; backups, and what receivers took away, are yours to see to.`,
    );
  },
});
