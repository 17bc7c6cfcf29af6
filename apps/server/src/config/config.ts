import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { settings } from './settings.ts';
import { readPairs, type TestSwitches, testSwitches, testVariable } from './test-switches.ts';
import type { Setting } from './values.ts';

export type Config = {
  readonly [Name in keyof typeof settings]: z.output<(typeof settings)[Name]['schema']>;
} & Readonly<TestSwitches> & {
    /** The names of the test switches that are set; none in production. */
    readonly switched: readonly string[];
  };

type Environment = Readonly<Record<string, string | undefined>>;

export class BadConfig extends Error {
  constructor(problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'BadConfig';
  }
}

/** Used by other programs in the same shell: callers of the API (README, /docs), and the command that starts NATS. */
const notOurs = ['EARSHOT_URL', 'EARSHOT_API_KEY', 'EARSHOT_NATS_SERVER'];

/** The variables that may contain a setting. */
export function variablesOf({ variable, isSecret }: Setting): string[] {
  return isSecret ? [variable, `${variable}_FILE`] : [variable];
}

/** What Kubernetes sets in every pod beside a Service whose name begins with "earshot", unless `enableServiceLinks` is false. */
const linkName = /_SERVICE_HOST$|_SERVICE_PORT(_|$)|_PORT_\d+_(TCP|UDP|SCTP)(_|$)/;
const linkValue = /^(tcp|udp|sctp):\/\//;

function isServiceLink(name: string, value = ''): boolean {
  return linkName.test(name) || (name.endsWith('_PORT') && linkValue.test(value));
}

/**
 * Reads and freezes the configuration. An unknown EARSHOT_ variable is a typing mistake and refused. Variables of OpenTelemetry that
 * are not settings belong to other programs. A secret may be in a file instead, which `docker inspect` and /proc do not show.
 */
export function readConfig(environment: Environment): Config {
  const all = Object.entries<Setting>(settings);
  const known = new Set([...all.flatMap(([, setting]) => variablesOf(setting)), testVariable, ...notOurs]);
  const given = Object.entries(environment).filter(
    ([name, value]) => (known.has(name) || name.startsWith('EARSHOT_')) && !isServiceLink(name, value),
  );
  const problems = given
    .filter(([name]) => !known.has(name))
    .map(([name]) => `${name} is not a setting: see docs/configuration.md`);
  const ours = Object.fromEntries(given);
  const { switched, problem, ...values } = readTestSwitches(ours[testVariable]);
  if (problem) problems.push(problem);
  for (const [name, setting] of all) {
    const { value, variable, problem } = findValue(setting, ours);
    const parsed = setting.schema.safeParse(value);
    if (problem) problems.push(problem);
    else if (parsed.success) values[name] = parsed.data;
    else
      problems.push(
        `${variable} ${value === undefined ? 'is missing' : 'has a bad value'}: ${detailOf(parsed.error)}${setting.about}`,
      );
  }
  if (values['oauthIssuer'] !== undefined && values['publicUrl'] === undefined)
    problems.push('EARSHOT_OAUTH_ISSUER needs EARSHOT_PUBLIC_URL: tokens must be issued for this address');
  const judge = { EARSHOT_JUDGE_URL: values['judgeUrl'], EARSHOT_JUDGE_MODEL: values['judgeModel'] };
  const missing = Object.entries(judge).filter(([, value]) => value === undefined);
  if (missing.length === 1)
    problems.push(`${missing[0]?.[0]} is missing. Set both ${Object.keys(judge).join(' and ')}, or neither.`);
  if (problems.length > 0) throw new BadConfig(problems);
  return Object.freeze({ ...values, switched }) as Config;
}

interface SwitchesRead {
  readonly switched: readonly string[];
  readonly problem?: string;
  [name: string]: unknown;
}

function readTestSwitches(text = ''): SwitchesRead {
  const pairs = readPairs(text);
  const { success, data, error } = testSwitches.safeParse(pairs);
  if (success) return { ...data, switched: Object.keys(pairs) };
  const details = error.issues.map(({ path, message }) => [...path, message].join(': '));
  return { switched: [], problem: `${testVariable} has a bad value: ${details.join('; ')}` };
}

/** One setting as it is written, for commands that need no other. */
export function readSetting(name: keyof typeof settings, environment: Environment): string | undefined {
  const { value, problem } = findValue(settings[name], environment);
  if (problem) throw new BadConfig([problem]);
  return value;
}

interface FoundValue {
  readonly variable: string;
  readonly value?: string | undefined;
  readonly problem?: string;
}

/** An empty variable counts as not set. */
function findValue(setting: Setting, environment: Environment): FoundValue {
  const [variable = '', inFile = ''] = variablesOf(setting);
  const value = environment[variable] || undefined;
  const path = environment[inFile];
  if (!path) return { variable, value };
  if (value) return { variable, problem: `${variable} and ${inFile} are both set. Keep one of them` };
  try {
    const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    return text ? { variable: inFile, value: text } : { variable, problem: `${inFile} names an empty file` };
  } catch (error) {
    // Not the path: it may be the secret itself, by mistake.
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    return { variable, problem: `${inFile} names a file that cannot be read (${reason})` };
  }
}

/** The message of a setting's own check, if it says more than that the value is bad. */
function detailOf({ issues }: z.ZodError): string {
  const found = issues.find(({ code, message }) => code === 'custom' && message !== 'Invalid input');
  return found ? `${found.message}. ` : '';
}
