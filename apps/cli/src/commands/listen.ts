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

/** For developing a webhook receiver. It needs no public address, because this command fetches the matches. */
export const listen = command({
  name: 'listen',
  summary: 'post new matches to a URL on this machine, as a webhook would',
  details:
    'For developing a webhook receiver without a public address. Each match is one signed message, which is posted until the receiver accepts it; a refused message (4xx) is skipped. Starts with new matches, or where the reader stopped.',
  options: {
    'forward-to': required(text('<url>', 'URL to post to, such as http://localhost:3000/hook')),
    secret,
    rule: ruleFilter,
    platform: platformFilter,
    reader: text('<name>', 'named reader that stores the position'),
    'allow-remote': flag('allow a URL on another machine, such as the name of a container'),
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
      screen.note(`Signed with ${signing}\nUse it in your receiver. To reuse it next time, add --secret.`);
    const onAttempt = (delivery: Delivery) => screen.print(isJson ? jsonLine(delivery) : lineOf(delivery));
    const forwarding = { url, secret: signing, signal, onAttempt };
    const filter = { rule_id: rule, platform };
    const following = {
      signal,
      onRestored: () =>
        screen.note('Earshot was restored to an earlier state: some matches may be sent again.'),
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
