import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { variablesOf } from '../../apps/server/src/config/config.ts';
import { settings } from '../../apps/server/src/config/settings.ts';
import type { Setting } from '../../apps/server/src/config/values.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'deploy/kubernetes');

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: unknown;
}

const yaml: { parse(text: string): unknown; parseAllDocuments(text: string): { toJS(): Resource }[] } =
  createRequire(join(root, 'apps/cli/package.json'))('yaml');

const files = (await readdir(folder)).filter((file) => file !== 'kustomization.yaml');
const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
const resources = texts.flatMap((text) => yaml.parseAllDocuments(text).map((document) => document.toJS()));

/** The compiler errors for resources as values of the types from Kubernetes' own API description. */
async function problemsOf(all: readonly Resource[]): Promise<string> {
  const cache = join(root, 'node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const dir = await mkdtemp(join(cache, 'manifests-'));
  try {
    const typed = all.map(
      (one, n) =>
        `import type { I${one.kind} as Kind${n} } from 'kubernetes-models/${one.apiVersion}/${one.kind}';\n` +
        `export const resource${n}: Kind${n} = ${JSON.stringify(one, null, 1)};`,
    );
    const file = join(dir, 'manifests.ts');
    await writeFile(file, typed.join('\n'));
    const options = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'es2022',
    ];
    const run = promisify(execFile)(join(root, 'node_modules/.bin/tsc'), [...options, file]);
    return await run.then(
      () => '',
      ({ stdout }: { stdout: string }) => stdout,
    );
  } finally {
    await rm(dir, { recursive: true });
  }
}

test('the Kubernetes manifests match the API types, without unknown fields', async () => {
  expect(resources.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(['Deployment', 'Service', 'NetworkPolicy']),
  );
  expect(await problemsOf(resources)).toBe('');
});

test('control: a field that Kubernetes does not know is reported', async () => {
  const wrong = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' }, spec: { port: 80 } };
  expect(await problemsOf([wrong])).toMatch(/'?"?port"?'? does not exist in type/);
});

test('the kustomization lists all manifests', async () => {
  const kustomization = yaml.parse(await readFile(join(folder, 'kustomization.yaml'), 'utf8'));
  expect(kustomization).toMatchObject({ resources: expect.arrayContaining(files) });
});

interface Pod {
  readonly containers: ReadonlyArray<{ env: ReadonlyArray<{ name: string; value: string }> }>;
  readonly volumes: ReadonlyArray<{ secret: { items: ReadonlyArray<{ key: string; path: string }> } }>;
}

const deployments = resources
  .filter(({ kind }) => kind === 'Deployment')
  .map(({ metadata, spec }) => ({
    name: metadata.name,
    spec: spec as { replicas: number; template: { spec: Pod } },
  }));

const labelsOf = (deployment: string) => ({
  'app.kubernetes.io/name': 'earshot',
  'app.kubernetes.io/component': deployment.replace('earshot-', ''),
});

test('there is a Deployment for each role, confined, and probed on the metrics port', () => {
  expect(deployments.map(({ name }) => name).toSorted()).toEqual(
    ['api', 'deliver', 'ingest', 'match'].map((role) => `earshot-${role}`),
  );
  for (const { name, spec } of deployments) {
    expect({ name, ...spec.template.spec }).toMatchObject({
      enableServiceLinks: false,
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          livenessProbe: { httpGet: { path: '/healthz', port: 'metrics' } },
          readinessProbe: { httpGet: { path: '/readyz', port: 'metrics' } },
          ports: expect.arrayContaining([
            { name: 'metrics', containerPort: settings.metricsPort.schema.parse(undefined) },
          ]),
          resources: { limits: { memory: expect.any(String) } },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          volumeMounts: [{ name: 'secrets', mountPath: '/etc/earshot', readOnly: true }],
        },
      ],
      volumes: [{ name: 'secrets', secret: { secretName: 'earshot' } }],
    });
    const budget = resources.find(
      ({ kind, metadata }) => kind === 'PodDisruptionBudget' && metadata.name === name,
    );
    expect(budget?.spec).toEqual({ maxUnavailable: 1, selector: { matchLabels: labelsOf(name) } });
    expect(spec).toMatchObject({ selector: { matchLabels: labelsOf(name) } });
    expect(spec.template).toMatchObject({ metadata: { labels: labelsOf(name) } });
    expect(spec.replicas).toBeGreaterThan(1);
  }
});

test('pods reach the internet but no private network, and only Prometheus reaches their metrics', () => {
  const policies = resources.filter(({ kind }) => kind === 'NetworkPolicy');
  const specs = Object.fromEntries(policies.map(({ metadata, spec }) => [metadata.name, spec]));
  expect(specs).toMatchObject({
    earshot: {
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ ports: [{ port: 'metrics' }] }],
      egress: [{ ports: [{ port: 53 }, { port: 53 }] }, { ports: [{ port: 5432 }, { port: 4222 }] }],
    },
    'earshot-api': { policyTypes: ['Ingress'], ingress: [{ ports: [{ port: 'http' }] }] },
    'earshot-internet': {
      policyTypes: ['Egress'],
      egress: [{ to: [{ ipBlock: { except: expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16']) } }] }],
    },
  });
});

test('every setting in the manifests is a server setting, and every secret is a mounted file', () => {
  const known = Object.values<Setting>(settings).flatMap(variablesOf);
  const used = texts.flatMap((text) => text.match(/EARSHOT_\w+/g) ?? []);
  expect(used.length).toBeGreaterThan(20);
  expect(known).toEqual(expect.arrayContaining(used));
  for (const { name, spec } of deployments) {
    const [container] = spec.template.spec.containers;
    const [volume] = spec.template.spec.volumes;
    const read = container?.env
      .filter(({ name: variable }) => variable.endsWith('_FILE'))
      .map(({ value }) => value);
    const mounted = volume?.secret.items.map(({ key, path }) => [key, `/etc/earshot/${path}`]);
    expect([name, read]).toEqual([name, mounted?.map(([, path]) => path)]);
    // As docs/operations/install.md names them.
    for (const [key, path] of mounted ?? []) expect(path).toBe(`/etc/earshot/${key}`);
  }
});

test('only the role match has the login that owns the tables', () => {
  const owners = deployments.filter(({ spec }) => JSON.stringify(spec).includes('migration-database-url'));
  expect(owners.map(({ name }) => name)).toEqual(['earshot-match']);
});
