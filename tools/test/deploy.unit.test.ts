import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { settings } from '../../apps/server/src/settings.ts';

const root = join(import.meta.dirname, '../..');

test.for(['compose.yaml', 'Dockerfile'])(
  'every EARSHOT_ variable in %s is one that the server knows',
  async (file) => {
    const used = (await readFile(join(root, file), 'utf8')).match(/EARSHOT_\w+/g) ?? [];
    const known = Object.values(settings).map(({ variable }) => variable);
    expect(used).not.toEqual([]);
    expect(known).toEqual(expect.arrayContaining(used));
  },
);

interface Service {
  readonly image?: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly [setting: string]: unknown;
}

/** With what its services share filled in. */
async function readServices(): Promise<[string, Service][]> {
  const yaml: { parse(text: string, options: object): { services: Record<string, Service> } } = createRequire(
    join(root, 'apps/cli/package.json'),
  )('yaml');
  const { services } = yaml.parse(await readFile(join(root, 'compose.yaml'), 'utf8'), { merge: true });
  return Object.entries(services);
}

test('every service of compose.yaml is confined, and of an exact version', async () => {
  const services = await readServices();
  expect(services.map(([name]) => name)).toEqual([
    'postgres',
    'nats',
    'nats-1',
    'nats-2',
    'nats-3',
    'earshot',
  ]);
  for (const [name, service] of services) {
    expect({ name, ...service }).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      pids_limit: expect.any(Number),
      mem_limit: expect.stringMatching(/^\dg$/),
    });
    if (name !== 'earshot') expect(service.image).toMatch(/^(postgres:\d+\.\d+|nats:\d+\.\d+\.\d+-alpine)$/);
  }
  const dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8');
  for (const [, image] of dockerfile.matchAll(/^FROM (\S+)/gm))
    expect(image).toMatch(/^node:24\.\d+\.\d+-slim$/);
});

test('compose.yaml has a password for each login, required, and hands over the key of webhooks', async () => {
  const services = new Map(await readServices());
  const settingsOf = (name: string) => services.get(name)?.environment ?? {};
  expect(settingsOf('earshot')).toMatchObject({
    EARSHOT_DATABASE_URL: 'postgres://earshot_runtime:${RUNTIME_PASSWORD}@postgres:5432/earshot',
    EARSHOT_ACCOUNT_DATABASE_URL: 'postgres://earshot_account:${ACCOUNT_PASSWORD}@postgres:5432/earshot',
    EARSHOT_MIGRATION_DATABASE_URL: 'postgres://earshot_owner:${OWNER_PASSWORD}@postgres:5432/earshot',
    EARSHOT_NATS_URL: 'nats://earshot:${NATS_PASSWORD}@nats:4222',
    EARSHOT_SECRETS_KEY: '${EARSHOT_SECRETS_KEY:-}',
  });
  for (const name of ['POSTGRES', 'OWNER', 'RUNTIME', 'ACCOUNT'])
    expect(settingsOf('postgres')[`${name}_PASSWORD`]).toContain(`{${name}_PASSWORD:?`);
  for (const name of ['nats', 'nats-1', 'nats-2', 'nats-3'])
    expect(settingsOf(name)['NATS_PASSWORD']).toMatch(/^"\$\{NATS_PASSWORD:\?.*\}"$/);
});
