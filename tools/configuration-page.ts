import type { Setting } from '../apps/server/src/setting-values.ts';
import { settings } from '../apps/server/src/settings.ts';

/** docs/configuration.md, from the table that the server reads its settings with. */
export function renderConfigurationPage(): string {
  const rows = Object.values<Setting>(settings).map(({ variable, schema, about, isSecret }) => {
    const preset = defaultOf(schema);
    const shown = preset === '' ? 'none' : `\`${preset}\``;
    return `| \`${variable}\` | ${preset === null ? '**required**' : shown} | ${about}${isSecret ? ' Or `_FILE`.' : ''} |`;
  });
  return [
    '# Configuration',
    '',
    'All settings are environment variables. An unknown variable that begins with `EARSHOT_` is taken for a typing mistake: the server',
    'does not start. This page is generated from `apps/server/src/settings.ts` by `pnpm docs:write`.',
    '',
    'Where the last column ends with "Or `_FILE`", the variable with `_FILE` behind its name may hold the path of a file with the value instead, as',
    'Docker, Kubernetes and systemd provide secrets; the file may end with a newline. Setting both is an error. Variables that Kubernetes',
    'makes for a Service named `earshot` (`EARSHOT_SERVICE_HOST`, `EARSHOT_PORT=tcp://…`) are ignored.',
    '',
    '| Variable | Default | Meaning |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** Set by compose.yaml itself, or by nobody who runs a service. */
const notInFile = new Set<keyof typeof settings>([
  'databaseUrl',
  'accountDatabaseUrl',
  'migrationDatabaseUrl',
  'natsUrl',
  'host',
  'port',
  'metricsHost',
  'metricsPort',
  'eventsReplicas',
  'upstreamPace',
  'crashAt',
]);

/** deploy/earshot.env.example: every other setting with its default, commented out. */
export function renderEnvironmentFile(): string {
  const rows = Object.entries<Setting>(settings)
    .filter(([name]) => ![...notInFile].some((one) => one === name))
    .map(([, { variable, schema, about }]) => `# ${about}\n#${variable}=${defaultOf(schema) ?? ''}\n`);
  return [
    '# The settings of the server, for compose.yaml (env_file) and deploy/systemd (EnvironmentFile): copy it to earshot.env and take the "#"',
    '# away from what you set. Everything is explained in docs/configuration.md. Written by `pnpm docs:write`.',
    '',
    ...rows,
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
