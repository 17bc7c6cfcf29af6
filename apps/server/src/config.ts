import type { z } from 'zod';
import { type Setting, settings } from './settings.ts';

export type Config = {
  readonly [Name in keyof typeof settings]: z.output<(typeof settings)[Name]['schema']>;
};

export class BadConfig extends Error {
  constructor(problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'BadConfig';
  }
}

/** Set for others in the same shell: callers of the API (README, /docs), and the command that starts engines. */
const notOurs = ['EARSHOT_URL', 'EARSHOT_API_KEY', 'EARSHOT_NATS_SERVER'];

/** Reads and freezes the configuration. An unknown EARSHOT_ variable is a typing mistake and refused. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const known = new Set<string>([...Object.values(settings).map(({ variable }) => variable), ...notOurs]);
  const problems = Object.keys(environment)
    .filter((name) => name.startsWith('EARSHOT_') && !known.has(name))
    .map((name) => `${name} is not a setting: see docs/configuration.md`);
  const values: Record<string, unknown> = {};
  for (const [name, { variable, schema }] of Object.entries<Setting>(settings)) {
    const given = environment[variable];
    const parsed = schema.safeParse(given === '' ? undefined : given);
    if (parsed.success) values[name] = parsed.data;
    else
      problems.push(
        `${variable} ${given === undefined ? 'is missing' : 'has a bad value'}: ${detailOf(parsed.error)}${settingHelp(name)}`,
      );
  }
  if (problems.length > 0) throw new BadConfig(problems);
  return Object.freeze(values) as Config;
}

/** What a setting's own check found, where it says more than that the value is bad. */
function detailOf({ issues }: z.ZodError): string {
  const found = issues.find(({ code, message }) => code === 'custom' && message !== 'Invalid input');
  return found ? `${found.message}. ` : '';
}

function settingHelp(name: string): string {
  return Object.entries<Setting>(settings).find(([one]) => one === name)?.[1].about ?? '';
}
