import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts, startPostgres, unprivilegedUser } from '@earshot/engines';
import { startSandbox } from '@earshot/sandbox';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { makeTempDir, repository, startCommand } from './src/demo-process.ts';
import { readShellBlocks } from './src/page-blocks.ts';
import { tapToken, xToken } from './src/world.ts';

const path = 'docs/operations/install.md';
const page = await readFile(join(repository, path), 'utf8');
const buildServer = 'pnpm build:server';
const [, , kubernetes = '', clone = '', ...others] = await readShellBlocks(path);
const [passwords = '', files = '', start = '', firstAccount = '', check = '', ...more] = others;

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'earshot-install-'));
  // If root runs the tests, PostgreSQL runs as another user, who needs access to its data.
  await chmod(dir, 0o711);
});
afterAll(() => rm(dir, { recursive: true }));

async function run(command: string, cwd: string): Promise<string> {
  const env = { ...process.env, KUBECONFIG: '/dev/null' };
  return (await promisify(execFile)('/bin/sh', ['-ec', command], { env, cwd })).stdout;
}

test('every block of the page is run, here or by the container tests', () => {
  expect(more).toEqual([]);
  // Run by `./dev`, by the tests of the console and below.
  expect(clone.split('\n')).toEqual(['pnpm install --frozen-lockfile', 'pnpm build:console', buildServer]);
});

interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: { template?: { spec: Pod } };
}

interface Pod {
  readonly containers: ReadonlyArray<{ readonly image: string }>;
  readonly volumes: ReadonlyArray<{ secret: { secretName: string; items: ReadonlyArray<{ key: string }> } }>;
}

test("Kubernetes: kubectl renders what the pods need from the page's commands", async () => {
  const secrets = join(dir, 'secrets');
  await mkdir(secrets);
  const [, listed = ''] = /Put each secret into (.+?)Then:/s.exec(page) ?? [];
  const files = [...listed.matchAll(/`([a-z]+(?:-[a-z]+)+)`/g)].map(([, name = '']) => name);
  for (const file of files) await writeFile(join(secrets, file), `the ${file}\n`);

  const [createNamespace = '', createSecret = '', apply = '', ...others] = kubernetes.split('\n');
  expect(others).toEqual([]);
  const created = async (command: string) =>
    JSON.parse(await run(`${command} --dry-run=client --output=json`, dir));
  const namespace = await created(createNamespace);
  expect(namespace).toMatchObject({ kind: 'Namespace', metadata: { name: 'earshot' } });
  const secret = await created(createSecret);
  expect(secret).toMatchObject({ kind: 'Secret', metadata: { namespace: namespace.metadata.name } });
  expect(Object.keys(secret.data).toSorted()).toEqual(files.toSorted());

  // It queries a cluster before it applies anything; rendering needs none.
  expect(apply).toMatch(/^kubectl apply -k /);
  const rendered = await run(apply.replace('apply -k', 'kustomize'), repository);
  const yaml: { parseAllDocuments(text: string): { toJS(): Resource }[] } = createRequire(
    join(repository, 'apps/cli/package.json'),
  )('yaml');
  const resources = yaml.parseAllDocuments(rendered).map((document) => document.toJS());
  const written = await Promise.all(
    (await readdir(join(repository, 'deploy/kubernetes')))
      .filter((file) => file !== 'kustomization.yaml')
      .map((file) => readFile(join(repository, 'deploy/kubernetes', file), 'utf8')),
  );
  expect(resources).toHaveLength(written.join('\n').match(/^kind: /gm)?.length ?? 0);
  expect(new Set(resources.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['earshot']));

  const [, tag = ''] = /`docker build --tag <registry>\/(\S+) \.`/.exec(page) ?? [];
  const pods = resources.flatMap(({ spec }) => spec?.template?.spec ?? []);
  expect(pods).toHaveLength(4);
  for (const { containers, volumes } of pods) {
    expect(containers.map(({ image }) => image)).toEqual([`registry.example.com/${tag}`]);
    for (const { secret: mounted } of volumes) {
      expect(mounted.secretName).toBe(secret.metadata.name);
      expect(Object.keys(secret.data)).toEqual(expect.arrayContaining(mounted.items.map(({ key }) => key)));
    }
  }
  const [, deployment = ''] = /kubectl exec --namespace earshot deployment\/(\S+) -- node/.exec(page) ?? [];
  expect(resources).toContainEqual(
    expect.objectContaining({ kind: 'Deployment', metadata: expect.objectContaining({ name: deployment }) }),
  );
});

test("systemd: the page's commands start both services, as another user without privileges", async () => {
  await using stack = new AsyncDisposableStack();
  const postgres = await startPostgres({ dir: join(dir, 'postgres') });
  stack.defer(() => postgres.stop());
  const superuser = new URL(postgres.urls.superuser);
  const sandbox = stack.use(await startSandbox({ xApps: [{ token: xToken }], taps: [{ token: tapToken }] }));
  const [natsPort = 0, monitorPort = 0] = await freePorts(2);
  const etc = join(dir, 'etc');
  await mkdir(join(etc, 'systemd/system'), { recursive: true });
  // Its logins were made by the same file with other passwords.
  const roles = await readFile(join(repository, 'deploy/postgres-roles.sql'), 'utf8');
  const logins = roles.match(/^create role \w+ login .+$/gm) ?? [];
  expect(logins).toHaveLength(3);
  await writeFile(join(dir, 'roles.sql'), logins.join('\n').replaceAll('create role', 'alter role'));
  const onThisMachine = (commands: string) =>
    [
      ['runuser -u postgres -- psql', `psql -d '${superuser}'`],
      ['deploy/postgres-roles.sql', join(dir, 'roles.sql')],
      ['/etc/', `${etc}/`],
      ['/var/lib/earshot-nats', join(dir, 'nats')],
      ['127.0.0.1:5432/earshot', `${superuser.host}${new URL(postgres.urls.owner).pathname}`],
      ['127.0.0.1:4222', `127.0.0.1:${natsPort}`],
    ].reduce((text, [from = '', to = '']) => text.replaceAll(from, to), commands);
  await run(buildServer, repository);
  const tokens = `X_TOKEN=${xToken} FIREHOSE_TOKEN=${tapToken}\n`;
  await run(tokens + onThisMachine(`${passwords}\n${files}`), repository);
  expect(start.split('\n')).toEqual([
    'systemctl daemon-reload',
    'systemctl enable --now nats-server earshot',
  ]);

  const natsUnit = await readFile(join(etc, 'systemd/system/nats-server.service'), 'utf8');
  for (const [, file = ''] of natsUnit.matchAll(/^LoadCredential=.+:(.+)$/gm))
    expect((await stat(onThisMachine(file))).mode & 0o077).toBe(0);
  const [, natsArgs = ''] = /^ExecStart=\/usr\/bin\/nats-server (.+)$/m.exec(natsUnit) ?? [];
  const natsConfig = join(etc, 'earshot/nats.conf');
  const ownPorts = (await readFile(natsConfig, 'utf8'))
    .replace(':4222', `:${natsPort}`)
    .replace(':8222', `:${monitorPort}`);
  await writeFile(natsConfig, ownPorts);
  const natsServer = startCommand(
    inject('natsServer'),
    natsArgs.replace('${CREDENTIALS_DIRECTORY}', join(etc, 'earshot')).split(' '),
    dir,
  );
  stack.defer(async () => {
    natsServer.process.kill('SIGTERM');
    await natsServer.exited;
  });

  const tempDir = await makeTempDir();
  const { start: serverStart, credentials } = await readUnit(
    join(etc, 'systemd/system/earshot.service'),
    tempDir,
  );
  const user = await unprivilegedUser();
  await mkdir(join(tempDir, 'credentials'), { mode: 0o700 });
  for (const [name, file] of credentials) {
    const copy = join(tempDir, 'credentials', name);
    await writeFile(copy, await readFile(file.replace('/etc/', `${etc}/`)), { mode: 0o400 });
    if (user) await chown(copy, user.uid, user.gid);
  }
  if (user) await chown(join(tempDir, 'credentials'), user.uid, user.gid);
  const drop = user
    ? [
        'setpriv',
        `--reuid=${user.uid}`,
        `--regid=${user.gid}`,
        '--clear-groups',
        '--no-new-privs',
        '--bounding-set=-all',
      ]
    : ['setpriv', '--no-new-privs'];
  const upstreams = { EARSHOT_X_BASE_URL: sandbox.url, EARSHOT_FIREHOSE_BASE_URL: sandbox.url };
  const [command = '', ...args] = [...drop, process.execPath, ...serverStart.args];
  const env = { ...serverStart.env, ...upstreams, EARSHOT_PORT: '0', EARSHOT_METRICS_PORT: '0' };
  const node = startCommand(command, args, tempDir, env);
  try {
    const { address, metricsPort } = JSON.parse((await node.line(/earshot is up/)).input);
    const account = await run(onThisMachine(firstAccount), repository);
    const createKey = `${onThisMachine(firstAccount).replace(/admin .*/, '')} admin create-key --account ${/acc_\w+/.exec(account)}`;
    const [key = ''] = /esk_\w+/.exec(await run(createKey, repository)) ?? [];
    const here = check.replace('http://127.0.0.1:8080', address).replace(':9464', `:${metricsPort}`);
    expect(await run(`EARSHOT_API_KEY=${key}\n${here}`, repository)).toMatch(
      /^\{"status":"ready"\}\s*\{"sources":\[.*"state":"no_rules".*"state":"no_rules"/,
    );
    const status = await readFile(`/proc/${node.process.pid}/status`, 'utf8');
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    expect(status).toMatch(/^CapEff:\t0+$/m);
    expect(status).not.toMatch(/^Uid:\t0\b/m);
  } finally {
    node.process.kill('SIGTERM');
  }
  expect(await node.exited).toBe(0);
  expect(node.stdout()).toContain('earshot is down');
  await rm(tempDir, { recursive: true });
});

/** How systemd interprets the lines about the start. */
async function readUnit(file: string, tempDir: string) {
  const unit = await readFile(file, 'utf8');
  const values = (name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.+)$`, 'gm'))].map(([, value = '']) => value);
  const pairs = values('Environment').map((line) => line.replace('%d', `${tempDir}/credentials`).split('='));
  const [, ...args] = values('ExecStart')[0]?.split(' ') ?? [];
  const credentials = values('LoadCredential').map((line): [string, string] => {
    const [name = '', from = ''] = line.split(':');
    return [name, from];
  });
  return { start: { args, env: Object.fromEntries(pairs) as Record<string, string> }, credentials };
}
