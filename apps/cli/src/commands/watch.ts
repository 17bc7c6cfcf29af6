import { setTimeout as sleep } from 'node:timers/promises';
import { type Answers, type Earshot, EarshotError } from '@earshot/sdk';
import { command } from '../command.ts';
import { noticingFetch } from '../follow.ts';
import { integer, oneOf, platformFilter, relevanceFilter, required, ruleFilter, text } from '../options.ts';
import { jsonLine } from '../output/printable.ts';
import { exitCodeOfStop, listenForStop } from '../output/stop.ts';
import { graceMs, runCommand } from '../run-command.ts';

type Batch = Answers['ReadMatches'];

const waitSeconds = 30;
const firstRetryMs = 1_000;
const retryMsMax = 5 * 60_000;

/** Starts a program, such as an agent, when matches arrive. The program itself need not wait. */
export const watch = command({
  name: 'watch',
  summary: 'run a command for each batch of new matches',
  details:
    'The shell sh runs the command, which gets the batch as JSON on its standard input: {"reader":…,"matches":[…],"removed":[…]}. It does not get EARSHOT_API_KEY. If it exits with 0, the batch is acknowledged. Otherwise it runs again, first after 1 s, later after up to 5 minutes. A match may arrive twice: remember its id. Ctrl+C gives a running command 5 s to end.',
  options: {
    exec: required(text('<command>', 'command to run')),
    reader: required(text('<name>', 'named reader that stores the position')),
    rule: ruleFilter,
    platform: platformFilter,
    relevance: relevanceFilter,
    start: oneOf(['oldest', 'now'], 'where a new reader starts (default now)'),
    limit: integer('<n>', 'maximum matches in a batch (default 50)', { min: 1, max: 100 }),
  },
  aboutJson: 'one line of JSON after each run: {"matches":…,"first_match_id":…,"exit":…,"acknowledged":…}',
  examples: [
    `earshot watch --reader pager --exec './on-matches.sh'`,
    `earshot watch --reader agent-7 --rule rule_01kb2m9x4c7q5t8w3y6z1v0n2p --exec 'my-agent --prompt-file prompt.md'`,
  ],
  async run({ options }, { connect, env, isJson, screen }) {
    const { signal } = listenForStop();
    const earshot = await connect({ fetch: noticingFetch(screen.note) });
    const { exec, reader, rule, platform, relevance, start, limit } = options;
    const page = { reader, rule_id: rule, platform, relevance, start, limit, wait_seconds: waitSeconds };
    let failures = 0;
    try {
      while (!signal.aborted) {
        const batch = await earshot
          .readMatches(page, { signal, timeoutMs: Number.POSITIVE_INFINITY })
          .catch((error) => skipTo(earshot, reader, { error, note: screen.note }));
        if (batch === null || batch.cursor === null) continue;
        const { matches, removed = [], cursor } = batch;
        if (matches.length + removed.length === 0) {
          // All matches of the page are left out.
          await acknowledge(earshot, { reader, cursor }, signal);
          continue;
        }
        const exit = await runCommand(exec, { input: { reader, matches, removed }, env, signal });
        const acknowledged = exit === 0;
        if (acknowledged) await acknowledge(earshot, { reader, cursor }, signal);
        if (isJson) screen.print(jsonLine({ ...summaryOf(batch), exit, acknowledged }));
        failures = acknowledged ? 0 : failures + 1;
        if (acknowledged || signal.aborted) continue;
        const delayMs =
          Math.min(retryMsMax, firstRetryMs * 2 ** (failures - 1)) * (0.8 + 0.4 * Math.random());
        screen.note(
          `The command ended with ${exit}, so nothing is acknowledged. It runs again in ${Math.ceil(delayMs / 1_000)} s.`,
        );
        await sleep(delayMs, undefined, { signal });
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return exitCodeOfStop(signal);
  },
});

function summaryOf({ matches, removed = [] }: Batch) {
  const [first, last] = [matches[0]?.id ?? null, matches.at(-1)?.id ?? null];
  return { matches: matches.length, removed: removed.length, first_match_id: first, last_match_id: last };
}

/** Retries for a short time even during shutdown. Otherwise the command would run again for a batch that succeeded. */
async function acknowledge(
  earshot: Earshot,
  place: { readonly reader: string; readonly cursor: string },
  signal: AbortSignal,
): Promise<void> {
  const late = new AbortController();
  const soon = () => void setTimeout(() => late.abort(signal.reason), graceMs).unref();
  if (signal.aborted) soon();
  else signal.addEventListener('abort', soon, { once: true });
  try {
    await earshot.ackMatches(place, { signal: late.signal, timeoutMs: Number.POSITIVE_INFINITY });
  } catch (error) {
    // Earshot and the reader were restored to an earlier state. The reader continues from there.
    if (!isOutOfRange(error)) throw error;
  } finally {
    signal.removeEventListener('abort', soon);
  }
}

const isOutOfRange = (error: unknown) => error instanceof EarshotError && error.code === 'out_of_range';

/** If retention has removed unacknowledged matches, moves the reader to the oldest stored match. */
async function skipTo(
  earshot: Earshot,
  reader: string,
  { error, note }: { readonly error: unknown; readonly note: (text: string) => void },
): Promise<null> {
  const cursor = error instanceof EarshotError ? error.details.oldest_cursor : undefined;
  if (!isOutOfRange(error) || cursor === undefined) throw error;
  note('Some unacknowledged matches are no longer stored. Continuing with the oldest stored match.');
  await earshot.ackMatches({ reader, cursor });
  return null;
}
