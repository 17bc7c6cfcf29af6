import type { Answers, Notice } from '@earshot/sdk';
import { command } from '../command.ts';
import { noticingFetch } from '../follow.ts';
import { cursor, flag, integer } from '../options.ts';
import { jsonLine, printable } from '../output/printable.ts';
import type { Screen } from '../output/screen.ts';
import { exitCodeOfStop, listenForStop } from '../output/stop.ts';
import { shortTime } from '../output/times.ts';

export const notices = command({
  name: 'notices',
  summary: 'list notices with instructions, newest first',
  details: 'With --follow, each notice is shown when it is raised, and again when it is resolved.',
  options: {
    open: flag('only unresolved notices'),
    limit: integer('<n>', 'entries (default 50)', { min: 1, max: 100 }),
    cursor,
    follow: flag('show new notices as they arrive'),
  },
  aboutJson: 'the answer as JSON; with --follow, one line of JSON per notice',
  examples: [
    'earshot notices --open',
    'earshot notices --follow',
    `earshot notices --json | jq -r '.notices[].what_to_do'`,
  ],
  async run({ options }, { connect, isJson, screen }) {
    const { follow: follows, open: isOpen, ...rest } = options;
    if (!follows) {
      const earshot = await connect();
      const request = { ...rest, ...(isOpen && { open: true as const }) };
      const answer = await screen.waitFor('Listing notices', earshot.listNotices(request));
      screen.print(isJson ? jsonLine(answer) : noticesText(answer, screen));
      return 0;
    }
    const { signal } = listenForStop();
    const earshot = await connect({ fetch: noticingFetch(screen.note) });
    if (screen.isInteractive) screen.note('Waiting for notices. Press Ctrl+C to stop.');
    const { limit = Number.POSITIVE_INFINITY } = rest;
    let shown = 0;
    try {
      for await (const notice of earshot.followNotices({ cursor: rest.cursor }, { signal })) {
        if (isOpen && notice.resolved_at !== null) continue;
        screen.print(isJson ? jsonLine(notice) : noticeText(notice, screen));
        shown += 1;
        if (shown >= limit) return 0;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return exitCodeOfStop(signal);
  },
});

function noticesText({ notices: listed, next_cursor }: Answers['ListNotices'], screen: Screen): string {
  if (listed.length === 0) return 'There are no such notices.';
  const texts = listed.map((notice) => noticeText(notice, screen));
  return [...texts, ...(next_cursor === null ? [] : [`More: earshot notices --cursor ${next_cursor}`])].join(
    '\n\n',
  );
}

const colours = { info: 'dim', warning: 'yellow', critical: 'red' } as const;

/** Two lines: the notice with its subject, and what to do. */
function noticeText(notice: Notice, { paint }: Screen): string {
  const { type, severity, subject, created_at, resolved_at, what_to_do } = notice;
  const times = `${shortTime(created_at)}${resolved_at === null ? '' : `, resolved ${shortTime(resolved_at)}`}`;
  const about = `${subject.kind} ${printable(subject.name)} (${printable(subject.id)})`;
  const head = paint(resolved_at === null ? colours[severity] : 'dim', `${severity}  ${type}`);
  return `${head}  ${about}  ${paint('dim', times)}\n  ${printable(what_to_do)}`;
}
