import { apiCommand } from '../api-command.ts';
import { exitCodes, usageFailure } from '../failure.ts';
import { cursor, integer, oneOf, text, time, webhookId } from '../options.ts';
import { renderFields, renderTable } from '../output/table.ts';
import { shortTime } from '../output/times.ts';

const outcomes = ['delivered', 'failed', 'refused', 'gone', 'not_sent', 'parked'] as const;

export const testWebhook = apiCommand({
  name: 'test',
  summary: 'send a test message now, and show the response',
  details: 'Exits with 1 unless the endpoint accepted the message.',
  args: { webhook: webhookId },
  examples: ['earshot webhooks test whk_01kb2m9x4c7q5t8w3y6z1v0n2p'],
  doing: 'Posting a test message',
  call: (earshot, { args }) => earshot.testWebhook({ webhook_id: args.webhook }),
  show: ({ outcome, status, latency_ms, message, response }, screen) =>
    renderFields(
      [
        ['outcome', outcome],
        ['status', status?.toString()],
        ['took', latency_ms === null ? null : `${latency_ms} ms`],
        ['message', message],
        ['response', response],
      ],
      screen,
    ),
  exitCode: ({ outcome }) => (outcome === 'delivered' ? exitCodes.done.code : exitCodes.failed.code),
});

export const deliveries = apiCommand({
  name: 'deliveries',
  summary: 'list attempts and parked matches of a webhook, newest first',
  options: {
    outcome: oneOf(outcomes, 'only these'),
    limit: integer('<n>', 'entries (default 50)', { min: 1, max: 100 }),
    cursor,
  },
  args: { webhook: webhookId },
  examples: ['earshot webhooks deliveries whk_01kb2m9x4c7q5t8w3y6z1v0n2p --outcome parked'],
  doing: 'Listing deliveries',
  call: (earshot, { options, args }) => earshot.listDeliveries({ webhook_id: args.webhook, ...options }),
  show: ({ deliveries: found, next_cursor }, screen) => {
    const rows = found.map((one) => [
      shortTime(one.created_at),
      one.outcome,
      one.status?.toString() ?? '–',
      one.latency_ms === null ? '–' : `${one.latency_ms} ms`,
      one.times === 1 ? '1' : `${one.times} until ${shortTime(one.last_at)}`,
      String(one.match_count),
      one.first_match_id ?? one.notice_id ?? '–',
      one.message ?? one.response ?? '',
    ]);
    const headings = [
      'CREATED',
      'OUTCOME',
      'STATUS',
      'TOOK',
      'ATTEMPTS',
      'MATCHES',
      'FIRST MATCH',
      'MESSAGE',
    ];
    const table = renderTable(headings, rows, screen);
    return next_cursor === null ? table : `${table}\n\nMore: the same with --cursor ${next_cursor}`;
  },
});

export const replay = apiCommand({
  name: 'replay',
  summary: 'send matches again, from a time or a match onwards',
  options: {
    from: time('send again from this time on', 'past'),
    'from-match': text('<match id>', 'send again from this match on'),
  },
  args: { webhook: webhookId },
  examples: ['earshot webhooks replay whk_01kb2m9x4c7q5t8w3y6z1v0n2p --from 1h'],
  doing: 'Moving the webhook back',
  call: (earshot, { args, options: { from, 'from-match': fromMatch } }) => {
    if ((from === undefined) === (fromMatch === undefined)) {
      throw usageFailure('Specify --from <time> or --from-match <match id>.');
    }
    return earshot.replayWebhook({ webhook_id: args.webhook, from, from_match_id: fromMatch });
  },
  show: ({ from_match_id }) =>
    from_match_id === null
      ? 'There are no matches from there on. Nothing changed.'
      : `Everything from ${from_match_id} on will be sent again.`,
});
