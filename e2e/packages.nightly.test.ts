import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '@earshot/engines';
import { eventually, listenOnLoopback } from '@earshot/testkit';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { python as debianPython, missingPython } from '../packages/testkit/src/debian-python.ts';
import { skipUnless } from '../packages/testkit/src/vitest-skips.ts';
import { repository } from './src/demo-process.ts';
import { nodeBin } from './src/older-node.ts';
import { shareWorld } from './src/shared-world.ts';
import type { Account, ServerUnderTest, World } from './src/world.ts';

const patiently = 300_000;
const missing = missingPython(
  ['build', 'hatchling', 'httpx', 'mypy', 'pip', 'venv'],
  'python3-build python3-hatchling python3-httpx mypy python3-pip python3-venv',
);
const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
const yaml: { parse(text: string): unknown } = createRequire(join(repository, 'apps/cli/package.json'))(
  'yaml',
);
/** The shell commands of the release workflow, by job. */
const releaseCommands = z
  .object({
    jobs: z.record(
      z.string(),
      z
        .object({ steps: z.array(z.object({ run: z.string().optional() })) })
        .transform(({ steps }) => steps.map(({ run }) => run ?? '')),
    ),
  })
  .parse(yaml.parse(readFileSync(join(repository, '.github/workflows/release.yml'), 'utf8'))).jobs;
const source = 'https://git.example.com/team/earshot';
/** The folder with the `node` of each version. */
const bins: Record<string, string> = { 24: dirname(process.execPath) };
let world: World;
let server: ServerUnderTest;
let account: Account;
/** Outside of the repository: the packages in `release`, and a project for each. */
let dir: string;
let packed: string;
let cliProject: string;
let sdkProject: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'earshot-packages-'));
  packed = join(dir, 'release');
  const packing = release('packages', './dev release:pack');
  [bins['20'], bins['22']] = await Promise.all([nodeBin(20), nodeBin(22), packing]);
  cliProject = await install(`earshot-${version}.tgz`);
  sdkProject = await install(`earshot-sdk-${version}.tgz`);
  world = await shareWorld();
  server = await world.startServer();
  account = await world.newAccount();
}, patiently);
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

/** Runs the command of the release workflow that starts with the given words, as GitHub does, for this version. */
async function release(job: string, start: string, env: Record<string, string> = {}) {
  const commands = releaseCommands[job]?.filter((command) => command.startsWith(start)) ?? [];
  expect(commands).toHaveLength(1);
  const [command = ''] = commands;
  const here = command
    .replace(
      './dev release:pack --out release',
      `cd ${repository} && node tools/release-pack.ts --out ${packed}`,
    )
    .replace('./dev ', `${join(repository, 'dev')} `);
  const github = {
    GITHUB_REF_NAME: `v${version}`,
    GITHUB_SERVER_URL: new URL(source).origin,
    GITHUB_REPOSITORY: 'team/earshot',
  };
  return await promisify(execFile)('bash', ['-e', '-c', here], {
    cwd: dir,
    env: { ...process.env, ...github, ...env },
  });
}

async function pythonBlocks(path: string): Promise<string[]> {
  const page = await readFile(path, 'utf8');
  return Array.from(page.matchAll(/^( *)```python.*\n([^]*?)^ *```$/gm), ([, indentation = '', code = '']) =>
    code.replaceAll(new RegExp(`^${indentation}`, 'gm'), ''),
  );
}

/** Creates an empty project with one package in it, without requests to the registry. */
async function install(tarball: string): Promise<string> {
  const project = join(dir, `uses-${tarball.replace('.tgz', '')}`);
  await mkdir(project);
  await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }\n');
  const options = ['--offline', '--no-audit', '--no-fund'];
  await promisify(execFile)('npm', ['install', ...options, join(packed, tarball)], { cwd: project });
  return project;
}

/** The environment of a user without the repository. */
const environment = (node: string) => ({
  PATH: [bins[node], process.env['PATH']].join(delimiter),
  HOME: dir,
  EARSHOT_URL: server.url,
  EARSHOT_API_KEY: account.key,
});

interface Outcome {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

function run(command: string, words: readonly string[], cwd: string, node = '24'): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(command, words, { cwd, env: environment(node) }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
    );
    child.stdin?.end();
  });
}

const earshot = (words: readonly string[], node?: string) =>
  run(join(cliProject, 'node_modules/.bin/earshot'), words, cliProject, node);

test.for([
  ['earshot', () => cliProject, ['.bin', '.package-lock.json', 'earshot']],
  ['@earshot/sdk', () => sdkProject, ['.package-lock.json', '@earshot']],
] as const)(
  '%s installs nothing else, and names its licence, source and homepage',
  async ([name, project, expected]) => {
    const modules = join(project(), 'node_modules');
    expect((await readdir(modules)).toSorted()).toEqual(expected);
    expect(await readdir(join(modules, name))).toEqual(expect.arrayContaining(['LICENSE', 'README.md']));
    const manifest = JSON.parse(await readFile(join(modules, name, 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({ name, version, license: 'Apache-2.0' });
    expect(manifest).not.toHaveProperty('dependencies');
    for (const field of ['homepage', 'bugs', 'engines']) expect(manifest).toHaveProperty(field);
    // npm refuses provenance for a package with another repository.
    expect(manifest.repository).toEqual({ type: 'git', url: `git+${source}.git` });
  },
);

test('the release workflow publishes both packages, and lists all files with their checksums', async () => {
  const requests: (string | undefined)[] = [];
  const registry = createServer(({ method }, response) => {
    requests.push(method);
    response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(registry)}/`;
  try {
    const { stdout, stderr } = await release('packages', 'for package in', {
      HOME: dir,
      npm_config_dry_run: 'true',
      npm_config_registry: url,
      npm_config_update_notifier: 'false',
    });
    expect(stdout.trim().split('\n')).toEqual([`+ earshot@${version}`, `+ @earshot/sdk@${version}`]);
    const publishing = stderr.match(/Publishing to .*/g);
    const expected = `Publishing to ${url} with tag latest and public access (dry-run)`;
    expect(publishing).toEqual([expected, expected]);
  } finally {
    registry.closeAllConnections();
    registry.close();
  }
  expect(new Set(requests)).toEqual(new Set(['GET']));
  await release('packages', './dev --silent bom');
  await release('publish', 'cd release && sha256sum');
  const sums = await readFile(join(packed, 'SHA256SUMS'), 'utf8');
  const listed = Array.from(sums.matchAll(/^[\da-f]{64} [ *](\S+)$/gm), ([, file = '']) => file);
  expect(listed.toSorted()).toEqual(
    [
      `earshot-${version}-py3-none-any.cdx.json`,
      `earshot-${version}-py3-none-any.whl`,
      `earshot-${version}.cdx.json`,
      `earshot-${version}.tar.gz`,
      `earshot-${version}.tgz`,
      `earshot-sdk-${version}.cdx.json`,
      `earshot-sdk-${version}.tgz`,
      'earshot-server.cdx.json',
    ].toSorted(),
  );
});

test('the bills of materials name the bundled packages, and their licences are in the package', async () => {
  const billOf = async (file: string) => JSON.parse(await readFile(file, 'utf8'));
  const bill = await billOf(join(packed, `earshot-${version}.cdx.json`));
  const installed = join(cliProject, 'node_modules/earshot');
  expect(await billOf(join(installed, 'bom.cdx.json'))).toEqual(bill);
  const names: string[] = bill.components.map(({ name }: { name: string }) => name);
  expect(names).toEqual([
    '@modelcontextprotocol/core',
    '@modelcontextprotocol/server',
    'commander',
    'rolldown',
    'yaml',
    'zod',
  ]);
  const licences = await readFile(join(installed, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
  for (const { name, version: used } of bill.components) expect(licences).toContain(`${name} ${used} (`);
  expect(await billOf(join(packed, `earshot-sdk-${version}.cdx.json`))).toMatchObject({ components: [] });
});

test('the packed command line makes a rule and tails its matches', async () => {
  const created = await earshot(['rules', 'create', '--name', 'Comets', '--x', 'comet', '--json']);
  expect(created).toMatchObject({ code: 0, stderr: '' });
  const { rule_id: ruleId } = JSON.parse(created.stdout);
  const [post] = await world.sandbox.posts(['a comet over an empty project']);
  expect(post).toMatchObject({ delivered: true });
  const tail = await earshot(['matches', 'tail', '--rule', ruleId, '--from', '1h', '--limit', '1', '--json']);
  expect(tail).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(tail.stdout)).toMatchObject({
    rule_id: ruleId,
    payload: { text: 'a comet over an empty project' },
  });
});

test('npx earshot mcp serves the tools to a client', async () => {
  const client = new Client({ name: 'packed', version: '1' });
  await client.connect(
    new StdioClientTransport({
      command: 'npx',
      args: ['--offline', 'earshot', 'mcp'],
      cwd: cliProject,
      env: environment('24'),
    }),
  );
  try {
    const { isError, structuredContent } = await client.callTool({ name: 'list_rules', arguments: {} });
    expect(isError).toBeFalsy();
    expect(structuredContent).toMatchObject({ rules: expect.any(Array) });
  } finally {
    await client.close();
  }
});

test.for(['20', '22'])(
  'on Node %s the command line says in one sentence that it needs Node 24',
  async (node) => {
    for (const words of [['mcp'], ['matches', 'tail'], ['--version']]) {
      expect(await earshot(words, node)).toEqual({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(
          new RegExp(`^Earshot needs Node 24 or newer. This is Node ${node}\\.\\S+\\.\n$`),
        ),
      });
    }
  },
);

test.for([['demo'], ['services', 'status'], ['admin', 'create-account', '--name', 'a']])(
  'earshot %s says that it needs the repository',
  async (words) => {
    expect(await earshot(words)).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'This command works only in the repository of Earshot. Clone it, and run it there: ./dev earshot …\n',
    });
  },
);

describe('the Python package', skipUnless('python', missing), () => {
  const readme = join(repository, 'sdks/python/README.md');
  let python: string;
  beforeAll(async () => {
    // httpx is Debian's, because there is no registry.
    const venv = join(dir, 'venv');
    await promisify(execFile)(debianPython, ['-m', 'venv', '--system-site-packages', venv]);
    python = join(venv, 'bin/python');
    const wheel = join(packed, `earshot-${version}-py3-none-any.whl`);
    await promisify(execFile)(python, ['-m', 'pip', 'install', '--no-index', '--quiet', wheel]);
  }, patiently);

  test('its metadata names the source, and has only fields that its version of the format has', async () => {
    const program =
      'import importlib.metadata, json; print(json.dumps(importlib.metadata.metadata("earshot").json))';
    const metadata = JSON.parse((await run(python, ['-c', program], dir)).stdout);
    expect(metadata).toMatchObject({
      metadata_version: '2.1',
      name: 'earshot',
      version,
      license: 'Apache-2.0',
      requires_python: '>=3.10',
      requires_dist: ['httpx>=0.23'],
      project_url: expect.arrayContaining([`Repository, ${source}.git`]),
      description_content_type: 'text/markdown',
      description: expect.stringContaining('# earshot for Python'),
    });
    // PyPI refuses it before version 2.4.
    expect(metadata).not.toHaveProperty('license_expression');
  });

  test('the first program of its README prints matches', { timeout: patiently }, async () => {
    const [program = ''] = await pythonBlocks(readme);
    await writeFile(join(dir, 'first.py'), program);
    const running = execFile(python, ['first.py'], { cwd: dir, env: environment('24') });
    let printed = '';
    running.stdout?.on('data', (piece: string) => (printed += piece));
    running.stderr?.on('data', (piece: string) => (printed += piece));
    try {
      await eventually(() => expect(printed).toMatch(/^waiting for matches of rule_\w+$/m), {
        timeoutMs: 60_000,
      });
      // It follows matches from its start, which it does not report.
      await eventually(
        async () => {
          await world.sandbox.posts(['a rocket launch at noon']);
          expect(printed).toMatch(/^https:\/\/\S+ a rocket launch at noon$/m);
        },
        { timeoutMs: 60_000, intervalMs: 300 },
      );
    } finally {
      running.kill();
    }
  });

  test('the webhook receiver of its README accepts a genuine message and refuses a forged one', async () => {
    const program = (await pythonBlocks(readme)).find((block) => block.includes('verify_webhook')) ?? '';
    const [port = 0] = await freePorts(1);
    await writeFile(join(dir, 'receiver.py'), program.replace('3000', String(port)));
    const key = Buffer.from('a secret of 24 bytes!!!!');
    const env = { ...environment('24'), WEBHOOK_SECRET: `whsec_${key.toString('base64')}` };
    const running = execFile(python, ['receiver.py'], { cwd: dir, env });
    let printed = '';
    running.stdout?.on('data', (piece: string) => (printed += piece));
    const body = '{"type":"matches","webhook_id":"whk_1","matches":[{},{}]}';
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const signature = createHmac('sha256', key).update(`msg_1.${timestamp}.${body}`).digest('base64');
    const post = async (signed: string) => {
      const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': timestamp, 'webhook-signature': signed };
      return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })).status;
    };
    try {
      await eventually(async () => expect(await post(`v1,${signature}`)).toBe(204), { timeoutMs: 60_000 });
      expect(await post('v1,AAAA')).toBe(400);
      await eventually(() => expect(printed).toBe('msg_1 2\n'), { timeoutMs: 60_000 });
    } finally {
      running.kill();
    }
  });

  test('mypy accepts the package and the examples, and refuses a mistake', {
    timeout: patiently,
  }, async () => {
    const client =
      'import os\nfrom earshot import Earshot\nearshot = Earshot(url=os.environ["EARSHOT_URL"])\n';
    const pages = globSync('docs/**/*.md', { cwd: repository }).map((path) => join(repository, path));
    const blocks = (await Promise.all([readme, ...pages].map(pythonBlocks))).flat();
    expect(blocks.length).toBeGreaterThan(5);
    const files = blocks.map((_, index) => `example_${index}.py`);
    for (const [index, block] of blocks.entries())
      await writeFile(join(dir, files[index] ?? ''), block.includes('import ') ? block : client + block);
    const check = (...words: string[]) =>
      run('/usr/bin/mypy', ['--strict', '--python-executable', python, ...words], dir);
    expect(await check('-p', 'earshot')).toMatchObject({ code: 0 });
    expect(await check(...files)).toMatchObject({ code: 0 });
    await writeFile(join(dir, 'wrong.py'), `${client}earshot.get_rule()\nearshot.list_rules()["rule"]\n`);
    const { stdout } = await check('wrong.py');
    expect(stdout).toMatch(/Missing named argument "rule_id"[^]*has no key "rule"[^]*Found 2 errors/);
  });
});

test.for(['20', '22', '24'])('on Node %s the packed SDK follows matches', async (node) => {
  const program = `import { createEarshot } from '@earshot/sdk';
    const earshot = createEarshot({ url: process.env.EARSHOT_URL, key: process.env.EARSHOT_API_KEY });
    const overrides = { x: 'meteor${node}' };
    const { rule_id } = await earshot.createRule({ name: 'Meteors', intent: 'See them', platforms: ['x'], overrides });
    for await (const match of earshot.followMatches({ rule_id })) {
      console.log(process.versions.node.split('.')[0], match.payload.text);
      break;
    }`;
  await writeFile(join(sdkProject, `follow-${node}.js`), program);
  const running = run('node', [`follow-${node}.js`], sdkProject, node);
  const ended = { yes: false };
  void running.then(() => (ended.yes = true));
  // It follows matches from its start, which it does not report.
  await eventually(
    async () => {
      await world.sandbox.posts([`a meteor${node} at dusk`]);
      expect(ended.yes).toBe(true);
    },
    { timeoutMs: 60_000, intervalMs: 300 },
  );
  expect(await running).toEqual({ code: 0, stdout: `${node} a meteor${node} at dusk\n`, stderr: '' });
});
