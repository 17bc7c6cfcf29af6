import { apiCommand } from '../api-command.ts';
import { cursor, integer } from '../options.ts';
import { renderTable } from '../output/table.ts';
import { shortTime } from '../output/times.ts';

export const audit = apiCommand({
  name: 'audit',
  summary: 'list changes of rules, keys, webhooks, digests and readers; newest first',
  details: 'With --json, each entry has the old and the new value.',
  options: { limit: integer('<n>', 'entries (default 50)', { min: 1, max: 100 }), cursor },
  examples: ['earshot audit --limit 10', `earshot audit --json | jq '.entries[0].after'`],
  doing: 'Listing changes',
  call: (earshot, { options }) => earshot.listAudit(options),
  show: ({ entries, next_cursor }, screen) => {
    const rows = entries.map(({ created_at, operation, target_id, actor, request_id }) => [
      shortTime(created_at),
      operation,
      target_id,
      actor,
      request_id ?? '–',
    ]);
    const table = renderTable(['CREATED', 'OPERATION', 'TARGET', 'BY', 'REQUEST'], rows, screen);
    return next_cursor === null ? table : `${table}\n\nMore: earshot audit --cursor ${next_cursor}`;
  },
});
