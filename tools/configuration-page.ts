import { settingGroups, type settings } from '../apps/server/src/config/settings.ts';
import type { Setting } from '../apps/server/src/config/values.ts';

/** docs/configuration.md, from the tables that the server reads its settings with. */
export function renderConfigurationPage(): string {
  const groups = settingGroups.flatMap(([title, table]) => [
    `## ${title}`,
    '',
    '| Variable | Default | Meaning |',
    '|---|---|---|',
    ...Object.values(table).map(toRow),
    '',
  ]);
  return [
    '# Configuration',
    '',
    'All settings are environment variables. The server does not start if an `EARSHOT_` variable is unknown.',
    '',
    'If the last column ends with "Or `_FILE`", you may put the value into a file, and its path into the variable with `_FILE` behind its name.',
    'Setting both is an error. Limits of accounts belong to [plans](operations/accounts.md#plans-and-limits).',
    '',
    ...groups,
    '## Ignored variables',
    '',
    'The server ignores variables that Kubernetes sets for a Service named `earshot` (`EARSHOT_SERVICE_HOST`, `EARSHOT_PORT=tcp://…`). `EARSHOT_TEST` is',
    'for tests; a server that has it logs a warning.',
    '',
  ].join('\n');
}

function toRow({ variable, schema, about, isSecret }: Setting): string {
  const preset = defaultOf(schema);
  const shown = preset === '' ? 'none' : `\`${preset}\``;
  return `| \`${variable}\` | ${preset === null ? '**required**' : shown} | ${about}${isSecret ? ' Or `_FILE`.' : ''} |`;
}

/** compose.yaml sets these itself. */
const notInFile = new Set<string>([
  'databaseUrl',
  'accountDatabaseUrl',
  'migrationDatabaseUrl',
  'natsUrl',
  'host',
  'port',
  'metricsHost',
  'metricsPort',
] satisfies (keyof typeof settings)[]);

/** deploy/earshot.env.example: every other setting with its default, commented out. */
export function renderEnvironmentFile(): string {
  const groups = settingGroups.flatMap(([title, table]) => [
    `### ${title}\n`,
    ...Object.entries(table)
      .filter(([name]) => !notInFile.has(name))
      .map(([, { variable, schema, about }]) => `# ${about}\n#${variable}=${defaultOf(schema) ?? ''}\n`),
  ]);
  return [
    '# The settings of the server, for compose.yaml (env_file) and deploy/systemd (EnvironmentFile). Copy this file to earshot.env and remove',
    '# the "#" from what you set. docs/configuration.md explains every setting. Written by `pnpm docs:write`.',
    '',
    ...groups,
  ].join('\n');
}

/** The default as an operator writes it: empty for none, null where the setting is required. */
function defaultOf(schema: Setting['schema']): string | null {
  // A prefault is text that the schema parses; of all others the parsed value is known.
  if (schema.def.type === 'prefault' && 'defaultValue' in schema.def) return String(schema.def.defaultValue);
  const absent = schema.safeParse(undefined);
  if (!absent.success) return null;
  return [absent.data].flat().join(',');
}
