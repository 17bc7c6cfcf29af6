import { integer } from '../options.ts';
import { renderTable } from '../output/table.ts';
import { adminCommand } from './admin-command.ts';

const headings = ['PLATFORM', 'OPERATOR', 'AGREED', 'FALSE', 'MISSED', 'UNDECIDED', ''];

export const verdicts = adminCommand({
  name: 'verdicts',
  summary:
    'show, per operator, how Earshot’s own evaluation of the rules agrees with what the platforms match',
  details:
    'Based on a sample of the incoming items. FALSE: Earshot would match what the platform did not. MISSED: the platform matched what Earshot would not. An agreement counts for the operators that alone decide it, and for `several` if no single one does. PROVEN: at least 1,000 verdicts in these days, and no disagreement. See docs/operations/verdicts-unexplained.md.',
  options: { days: integer('<n>', 'of the last days, today included (default 30)', { min: 1, max: 400 }) },
  examples: ['earshot admin verdicts', 'earshot admin verdicts --days 7 --json'],
  async work(database, { options: { days = 30 } }) {
    const rows = await database.listVerdicts(days);
    const cells = rows.map((row) => [
      row.platform,
      row.operator,
      ...[row.agreed, row.false, row.missed, row.undecided].map(String),
      row.proven ? 'proven' : '',
    ]);
    const table = renderTable(headings, cells, { paint: (_, text) => text });
    return {
      json: { days, verdicts: rows },
      text: rows.length === 0 ? 'Nothing was compared in these days.' : table,
    };
  },
});
