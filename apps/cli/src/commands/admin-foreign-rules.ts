import { command } from '../command.ts';
import { loadLocal } from '../load-local.ts';
import { flag } from '../options.ts';
import { jsonLine } from '../output/printable.ts';

export const foreignRules = command({
  name: 'foreign-rules',
  summary: 'show rules of your X apps and Firehose tokens that do not belong to this installation',
  details:
    'Uses the settings of the server. Matches of such rules may be billed, and are not stored. Rules of other Earshot installations are included.',
  options: { delete: flag('delete them on the platforms') },
  examples: ['earshot admin foreign-rules', 'earshot admin foreign-rules --delete'],
  async run({ options: { delete: remove } }, { env, isJson, screen }) {
    const { listForeignRules } = await loadLocal(() => import('../local/admin-work.ts'));
    const rules = await screen.waitFor('Querying the platforms', listForeignRules(env, { remove }));
    if (isJson) return screen.print(jsonLine({ deleted: remove, rules }));
    if (rules.length === 0) return screen.print('All rules belong to this installation.');
    const lines = rules.map(({ source_id, upstream_rule_id, value, tag }) =>
      [source_id, upstream_rule_id, tag ?? '-', value].join('  '),
    );
    screen.print([...(remove ? ['Deleted:'] : []), ...lines].join('\n'));
  },
});
