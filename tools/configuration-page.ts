import { settings } from '../apps/server/src/settings.ts';

/** docs/configuration.md, from the table that the server reads its settings with. */
export function renderConfigurationPage(): string {
  const rows = Object.values(settings).map(({ variable, schema, about }) => {
    const absent = schema.safeParse(undefined);
    return `| \`${variable}\` | ${absent.success ? shown(absent.data) : '**required**'} | ${about} |`;
  });
  return [
    '# Configuration',
    '',
    'All settings are environment variables. An unknown variable that begins with `EARSHOT_` is taken for a typing mistake: the server',
    'does not start. This page is generated from `apps/server/src/settings.ts` by `pnpm docs:write`.',
    '',
    '| Variable | Default | Meaning |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function shown(value: unknown): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 'none';
  return `\`${Array.isArray(value) ? value.join(',') : JSON.stringify(value).replaceAll(`"`, '')}\``;
}
