import { command } from '../command.ts';
import { usageFailure } from '../failure.ts';
import { loadLocal } from '../load-local.ts';
import { text } from '../options.ts';
import { jsonLine } from '../output/printable.ts';
import { databaseOf, databaseUrl } from './admin-command.ts';

export const forgetCommand = command({
  name: 'forget',
  summary: 'remove a post, a page, or all items of an author with all matches, and never store them again',
  details:
    'Run it while the nodes run, and again if it is interrupted. All readers get a removal for each match. New items of the author are stored again.',
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
    const chosen = [
      ...(post === undefined ? [] : [{ post }]),
      ...(url === undefined ? [] : [{ url }]),
      ...(author === undefined ? [] : [{ author }]),
    ];
    const [one] = chosen;
    if (!one || chosen.length > 1) throw usageFailure('Specify exactly one of --post, --url and --author.');
    const database = await databaseOf(given, env);
    const { onDatabase } = await loadLocal(() => import('../local/admin-work.ts'));
    const working = onDatabase(database, (admin) =>
      admin.forget(one, ({ day, items, matches }) =>
        screen.note(`Up to ${day}: ${items} items and ${matches} matches removed.`),
      ),
    );
    const { items, matches } = await screen.waitFor('Searching the stored items', working);
    if (isJson) return screen.print(jsonLine({ items, matches }));
    screen.print(
      `${items} items and ${matches} matches are removed, and these items are not stored again. Remove them from your backups and from the systems that received them.`,
    );
  },
});
