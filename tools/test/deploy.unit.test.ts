import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { settings } from '../../apps/server/src/config/settings.ts';
import { balancerNoticesMs, shutdownWithinMs } from '../../apps/server/src/runtime/shut-down.ts';

const root = join(import.meta.dirname, '../..');

test.for(['compose.yaml', 'Dockerfile'])('the server knows every EARSHOT_ variable in %s', async (file) => {
  const used = (await readFile(join(root, file), 'utf8')).match(/EARSHOT_\w+/g) ?? [];
  const known: string[] = Object.values(settings).map(({ variable }) => variable);
  expect(used).not.toEqual([]);
  expect(known).toEqual(expect.arrayContaining(used));
});

interface Service {
  readonly image?: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly [setting: string]: unknown;
}

/** The services with their shared settings filled in. */
async function readServices(): Promise<[string, Service][]> {
  const yaml: { parse(text: string, options: object): { services: Record<string, Service> } } = createRequire(
    join(root, 'apps/cli/package.json'),
  )('yaml');
  const { services } = yaml.parse(await readFile(join(root, 'compose.yaml'), 'utf8'), { merge: true });
  return Object.entries(services);
}

test('every service of compose.yaml is confined and has an exact version', async () => {
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
      cpus: '${CPUS:-2}',
      mem_limit: expect.stringMatching(/^\dg$/),
    });
    if (name !== 'earshot') expect(service.image).toMatch(/^(postgres:\d+\.\d+|nats:\d+\.\d+\.\d+-alpine)$/);
  }
  const dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8');
  const stages = [...dockerfile.matchAll(/^FROM \S+ AS (\S+)/gm)].map(([, stage]) => stage);
  const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
  expect(images.length).toBeGreaterThan(1);
  for (const image of images.filter((one) => !stages.includes(one)))
    expect(image).toMatch(/^node:24\.\d+\.\d+-slim$/);
  // The user that deploy/kubernetes also names.
  expect(dockerfile.match(/^USER .+$/gm)).toEqual(['USER 10001:10001']);
});

test('.dockerignore lets the image copy all it needs, and the console is where the server expects it', async () => {
  const dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8');
  const allowed = (await readFile(join(root, '.dockerignore'), 'utf8')).match(/(?<=^!).+/gm) ?? [];
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, from = '']) =>
    from.split(' '),
  );
  expect(copied.toSorted()).toEqual(allowed.toSorted());
  const served = /new URL\('(.+dist)', import\.meta\.url\)/.exec(
    await readFile(join(root, 'apps/server/src/compose/api.ts'), 'utf8'),
  )?.[1];
  const folder = relative(root, resolve(root, 'apps/server/src/compose', served ?? ''));
  expect(dockerfile).toContain(`COPY --from=built /app/${folder} ${folder}\n`);
});

test.for([
  [200, 0],
  [503, 1],
  [undefined, 1],
] as const)(
  "if the metrics port answers %s, the image's health check ends with %i",
  async ([status, code]) => {
    const dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8');
    const [, command = ''] = /^HEALTHCHECK .*\\\n {2}CMD (\[.+\])$/m.exec(dockerfile) ?? [];
    const [program, ...args] = JSON.parse(command) as string[];
    expect([program, command]).toEqual([
      'node',
      expect.stringContaining(`?? ${settings.metricsPort.schema.parse(undefined)}`),
    ]);
    const asked: string[] = [];
    const server = createServer(({ url = '' }, response) => {
      asked.push(url);
      response.writeHead(status ?? 200).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    if (status === undefined) await new Promise((resolve) => server.close(resolve));
    const env = { EARSHOT_METRICS_PORT: String(port) };
    const ended = await new Promise((resolve) => {
      execFile(process.execPath, args, { env }, (error) => resolve(error === null ? 0 : error.code));
    });
    server.close();
    expect([ended, asked]).toEqual([code, status === undefined ? [] : ['/healthz']]);
  },
);

test('every deployment gives a node more time to stop than it may need', async () => {
  const read = (file: string) => readFile(join(root, file), 'utf8');
  const found = (text: string, pattern: RegExp) => Number(pattern.exec(text)?.[1]);
  const services = new Map(await readServices());
  const composed = found(String(services.get('earshot')?.['stop_grace_period']), /^(\d+)s$/);
  const needed = (shutdownWithinMs + balancerNoticesMs) / 1000 + 5;
  expect(composed).toBeGreaterThanOrEqual(needed);
  const unit = await read('deploy/systemd/earshot.service');
  expect(found(unit, /^TimeoutStopSec=(\d+)$/m)).toBeGreaterThanOrEqual(needed);
  for (const role of ['api', 'ingest', 'match', 'deliver']) {
    const pod = await read(`deploy/kubernetes/${role}.yaml`);
    const preStop = found(pod, /preStop: { sleep: { seconds: (\d+) } }/) || 0;
    expect(preStop > 0).toBe(role === 'api');
    expect(found(pod, /terminationGracePeriodSeconds: (\d+)/)).toBeGreaterThanOrEqual(preStop + needed);
  }
});

test('compose.yaml sets its own settings, and earshot.env.example offers all others', async () => {
  const made = Object.keys(new Map(await readServices()).get('earshot')?.environment ?? {});
  const example = await readFile(join(root, 'deploy/earshot.env.example'), 'utf8');
  const offered = [...example.matchAll(/^#(\w+)=/gm)].map(([, name = '']) => name);
  // The ports that compose.yaml publishes.
  const kept = ['EARSHOT_PORT', 'EARSHOT_METRICS_PORT'];
  const all = Object.values(settings).map(({ variable }) => variable);
  expect([...made, ...offered, ...kept].toSorted()).toEqual(all.toSorted());
});

test('compose.yaml requires a password for each login, and publishes its ports on loopback only', async () => {
  const services = new Map(await readServices());
  const settingsOf = (name: string) => services.get(name)?.environment ?? {};
  expect(settingsOf('earshot')).toMatchObject({
    EARSHOT_DATABASE_URL: 'postgres://earshot_runtime:${RUNTIME_PASSWORD}@postgres:5432/earshot',
    EARSHOT_ACCOUNT_DATABASE_URL: 'postgres://earshot_account:${ACCOUNT_PASSWORD}@postgres:5432/earshot',
    EARSHOT_MIGRATION_DATABASE_URL: 'postgres://earshot_owner:${OWNER_PASSWORD}@postgres:5432/earshot',
    EARSHOT_NATS_URL: 'nats://earshot:${NATS_PASSWORD}@nats:4222',
  });
  expect(services.get('earshot')).toMatchObject({
    env_file: ['earshot.env'],
    ports: ['127.0.0.1:8080:8080', '127.0.0.1:9464:9464'],
  });
  for (const name of ['POSTGRES', 'OWNER', 'RUNTIME', 'ACCOUNT'])
    expect(settingsOf('postgres')[`${name}_PASSWORD`]).toContain(`{${name}_PASSWORD:?`);
  for (const name of ['nats', 'nats-1', 'nats-2', 'nats-3'])
    expect(settingsOf(name)['NATS_PASSWORD']).toMatch(/^"\$\{NATS_PASSWORD:\?.*\}"$/);
});

test('the install page has the commands of compose.yaml, which the container tests run', async () => {
  const page = await readFile(join(root, 'docs/operations/install.md'), 'utf8');
  const compose = await readFile(join(root, 'compose.yaml'), 'utf8');
  const commands = [...compose.matchAll(/^# {3}(\S.+)$/gm)].map(([, command = '']) => command);
  expect(commands.length).toBeGreaterThan(4);
  expect(page).toContain(`\`\`\`sh\n${commands.join('\n')}\n\`\`\``);
});
