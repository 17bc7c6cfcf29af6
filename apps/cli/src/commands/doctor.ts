import { writeFile } from 'node:fs/promises';
import { languages } from '@earshot/query';
import { type Context, command, type Option } from '../command.ts';
import { stepIds } from '../doctor/register.ts';
import { hasDifference, reportText } from '../doctor/report.ts';
import { type DoctorOptions, runDoctor } from '../doctor/run-doctor.ts';
import { readToken } from '../doctor/tokens.ts';
import { exitCodes, usageFailure } from '../failure.ts';
import { flag, listOf, text } from '../options.ts';
import { jsonLine } from '../output/printable.ts';
import { exitCodeOfStop, listenForStop } from '../output/stop.ts';

const dollars: Option<number> = {
  about: 'maximum cost of all paid steps together (default 0: only free ones)',
  placeholder: '<dollars>',
  read: (given = '0') => {
    if (/^\d{1,3}(\.\d{1,3})?$/.test(given)) return Number(given);
    throw usageFailure(`takes an amount in dollars such as 0.5, not "${given}".`);
  },
};

const defaultReport = 'earshot-doctor.json';
const defaultBusyRule = 'from:Reuters';

/** A broad query would deliver more posts than allowed before its stream is closed. */
const busyRule: Option<string> = {
  about: `an X query for X5 and X6 that matches a few posts a minute (default ${defaultBusyRule})`,
  placeholder: '<query>',
  read: (given = defaultBusyRule) => {
    const { canonical, diagnostics } = languages.x.validate(given);
    if (canonical === null) throw usageFailure(`takes an X query, not "${given}".`);
    if (diagnostics.some(({ code }) => code === 'broad_rule'))
      throw usageFailure(`takes a narrow query such as ${defaultBusyRule}. "${given}" is too broad.`);
    return given;
  },
};

export const doctor = command({
  name: 'doctor',
  summary: 'check whether the platforms behave as Earshot assumes',
  details:
    'Needs real tokens without Earshot rules. Checks the assumptions in docs/upstreams in about 6 minutes, and writes a report without tokens, ids or texts. Each step first prints its requests and their maximum cost. X5, X6 and F3 run only with --spend. Deletes the rules that it creates (tag earshot:doctor:). Exits with 1 if an assumption is wrong.',
  options: {
    'x-token-file': text('<file>', 'a bearer token of X (default: EARSHOT_X_TOKENS)'),
    'firehose-token-file': text('<file>', 'a Firehose token (default: EARSHOT_FIREHOSE_TOKENS)'),
    'bluesky-url': text('<url>', 'a Jetstream instance (default: EARSHOT_BLUESKY_URL)'),
    spend: dollars,
    steps: listOf(stepIds, `only these steps: ${stepIds.join(', ')}; F0 and B0 need no token`, '<step,step>'),
    'busy-rule': busyRule,
    'idle-tap': flag('the Firehose token had no rules for 24 hours, so F2 costs nothing'),
    'beside-others': flag('run although the token is in use, but open no streams'),
    report: text('<file>', `file of the report (default ${defaultReport})`),
  },
  aboutJson: 'also print the report as JSON on stdout',
  examples: [
    'earshot doctor --x-token-file x-token.txt',
    'earshot doctor --steps F0',
    'earshot doctor --steps X5,X6 --spend 1',
  ],
  async run({ options }, { env, isJson, screen }) {
    const stop = listenForStop();
    const report = await runDoctor({
      ...(await accessOf(options, env)),
      steps: options.steps ?? stepIds,
      spendUsd: options.spend,
      isBesideOthers: options['beside-others'],
      isEnterprise: ['enterprise', 'embedding'].includes(env['EARSHOT_X_PLAN'] ?? ''),
      isTapIdle: options['idle-tap'],
      busyRule: options['busy-rule'],
      pace: Number(/\bupstreamPace=(\d+)/.exec(env['EARSHOT_TEST'] ?? '')?.[1] ?? 1),
      signal: stop.signal,
      screen,
    });
    const file = options.report ?? defaultReport;
    await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
    screen.print(isJson ? jsonLine(report) : reportText(report, screen));
    screen.note(`The report is in ${file}. Read it, and attach it if you report a difference.`);
    if (report.left_behind > 0)
      screen.note(
        `${report.left_behind} rules tagged earshot:doctor: could not be deleted. Run the command again.`,
      );
    if (stop.signal.aborted) return exitCodeOfStop(stop.signal);
    const isFine = !hasDifference(report) && report.left_behind === 0;
    return isFine && !report.steps.some(({ outcome }) => outcome === 'failed')
      ? exitCodes.done.code
      : exitCodes.failed.code;
  },
});

interface TokenOptions {
  readonly 'x-token-file': string | undefined;
  readonly 'firehose-token-file': string | undefined;
  readonly 'bluesky-url': string | undefined;
  readonly steps: readonly string[] | undefined;
}

/** The public validator of Firehose is used without a token only if `--steps` names F0. */
async function accessOf(
  options: TokenOptions,
  env: Context['env'],
): Promise<Pick<DoctorOptions, 'x' | 'firehose' | 'bluesky'>> {
  const xToken = await readToken({ file: options['x-token-file'], setting: env['EARSHOT_X_TOKENS'] });
  const tapToken = await readToken({
    file: options['firehose-token-file'],
    setting: env['EARSHOT_FIREHOSE_TOKENS'],
  });
  const usesPublicValidator = options.steps?.includes('F0') === true;
  const blueskyUrl = options['bluesky-url'] ?? (env['EARSHOT_BLUESKY_URL'] || null);
  if (xToken === null && tapToken === null && blueskyUrl === null && !usesPublicValidator) {
    throw usageFailure(
      'There is no token. Specify --x-token-file or --firehose-token-file, or set EARSHOT_X_TOKENS or EARSHOT_FIREHOSE_TOKENS. Only --steps F0 and --bluesky-url need none.',
    );
  }
  const xUrl = env['EARSHOT_X_BASE_URL'] || 'https://api.x.com';
  const firehoseUrl = env['EARSHOT_FIREHOSE_BASE_URL'] || 'https://api.firehose.com';
  return {
    x: xToken === null ? null : { baseUrl: xUrl, token: xToken },
    firehose: tapToken === null && !usesPublicValidator ? null : { baseUrl: firehoseUrl, token: tapToken },
    bluesky: blueskyUrl === null ? null : { baseUrl: blueskyUrl, token: null },
  };
}
