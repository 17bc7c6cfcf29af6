import { integer, oneOf } from '../options.ts';
import { renderTable } from '../output/table.ts';
import { adminCommand } from './admin-command.ts';

const dollars = (usd: number) => usd.toFixed(2);

export const adminUsage = adminCommand({
  name: 'usage',
  summary: 'show the cost that the platforms bill, per source and day, or divided among accounts',
  details:
    'LEAST: posts and pages alone. MOST: including the users and posts that were delivered with them. With --by account, rules that matched an item share its cost equally. The line without an account has items that no rule matched, calls for counts, and deleted accounts. Prices: EARSHOT_PRICES.',
  options: {
    by: oneOf(['source', 'account'], 'one line per source and day, or per account (default source)'),
    days: integer('<n>', 'the last UTC days, today included (default 30)', { min: 1, max: 400 }),
  },
  examples: ['earshot admin usage', 'earshot admin usage --by account --days 7 --json'],
  async work(database, { options: { by = 'source', days = 30 } }, { env }) {
    const prices = env['EARSHOT_PRICES'];
    const { lines, prices_as_of } = await database.listBill({ by, days, prices });
    const cells = lines.map((line) => [
      line.day ?? line.account_id ?? '',
      line.source_id ?? line.platform,
      line.kind,
      String(line.at_least),
      String(line.at_most),
      dollars(line.usd.min),
      dollars(line.usd.max),
    ]);
    const first = by === 'source' ? ['DAY', 'SOURCE'] : ['ACCOUNT', 'PLATFORM'];
    const table = renderTable([...first, 'KIND', 'LEAST', 'MOST', '$ LEAST', '$ MOST'], cells, {
      paint: (_, text) => text,
    });
    return {
      json: { by, days, bill: lines, prices_as_of },
      text: lines.length === 0 ? 'Nothing was billed in these days.' : table,
    };
  },
});
