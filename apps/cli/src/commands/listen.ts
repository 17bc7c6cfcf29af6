import type { Removal } from '@earshot/sdk';
import { command } from '../command.ts';
import { noticingFetch } from '../follow.ts';
import { type Delivery, forward, newSecret, readSecret, readTarget } from '../forward.ts';
import { flag, platformFilter, required, ruleFilter, text } from '../options.ts';
import { jsonLine } from '../output/printable.ts';
import { exitCodeOfStop, listenForStop } from '../output/stop.ts';
import { shortTime } from '../output/times.ts';

const secret = {
  ...text('<whsec_…>', 'sign with this secret (default: a new one, which is shown)'),
  read: (given: string | undefined) => (given === undefined ? undefined : readSecret(given)),
};

/** For whoever writes a receiver: no public address is needed, because the matches are fetched from here. */
export const listen = command({
  name: 'listen',
  summary: 'post new matches to a URL on this machine, as a webhook would',
  details:
    'For writing a receiver of webhooks without a public address. Each match is one message, signed as a webhook signs it. Unless it is taken the same message is posted again, after a second at first; one that is refused (4xx) is left out. Without --reader it begins with the matches from now on; with it, where that reader was the last time. Ctrl+C ends it.',
  options: {
    'forward-to': required(text('<url>', 'where to post, such as http://localhost:3000/hook')),
    secret,
    rule: ruleFilter,
    platform: platformFilter,
    reader: text('<name>', 'a named reader that keeps the place, chosen by you'),
    'allow-remote': flag('also to a URL on another machine, such as the name of a container'),
  },
  aboutJson: 'one attempt as one line of JSON: {"message_id":…,"attempt":…,"status":…}',
  examples: [
    'earshot listen --forward-to http://localhost:3000/hook',
    'earshot listen --forward-to http://localhost:3000/hook --reader my-laptop --platform x',
  ],
  async run({ options }, { connect, isJson, screen }) {
    const url = readTarget(options['forward-to'], options['allow-remote']);
    const { signal } = listenForStop();
    const earshot = await connect({ fetch: noticingFetch(screen.note) });
    const { rule, platform, reader, secret: given } = options;
    const signing = given ?? newSecret();
    if (given === undefined)
      screen.note(`Signed with ${signing}\nGive it to your receiver; --secret keeps it the next time.`);
    const onAttempt = (delivery: Delivery) => screen.print(isJson ? jsonLine(delivery) : lineOf(delivery));
    const forwarding = { url, secret: signing, signal, onAttempt };
    const filter = { rule_id: rule, platform };
    const following = {
      signal,
      onRestored: () => screen.note('Earshot was restored to an earlier state: some matches may come again.'),
      onRemoved: (removal: Removal) => forward(forwarding, { matches: [], removed: [removal] }),
    };
    try {
      const matches =
        reader === undefined
          ? earshot.followMatches(filter, following)
          : earshot.consumeMatches(
              { reader, ...filter, limit: 1 },
              { ...following, timeoutMs: Number.POSITIVE_INFINITY },
            );
      for await (const match of matches) await forward(forwarding, { matches: [match] });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return exitCodeOfStop(signal);
  },
});

function lineOf({ message_id, attempt, status, latency_ms, message }: Delivery): string {
  const nth = attempt === 1 ? '' : `  attempt ${attempt}`;
  const time = shortTime(new Date().toISOString()).slice(-8);
  return `${time}  ${status ?? message ?? ''}  ${latency_ms} ms  ${message_id}${nth}`;
}
