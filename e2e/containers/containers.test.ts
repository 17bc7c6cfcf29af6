import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, createApi } from '../src/api.ts';
import type { SandboxClient } from '../src/sandbox-client.ts';
import { type Engine, fetchCompose, startEngine } from './engine.ts';
import { buildImage, importEngines } from './images.ts';
import { type Installation, install } from './installation.ts';
import { step } from './run.ts';

/** The name that compose.yaml gives its image. */
const image = 'earshot-earshot:latest';
/** The same of compose.demo.yaml. */
const demoImage = 'earshot-demo:latest';
const soon = { timeoutMs: 120_000 };
let engine: Engine;

beforeAll(async () => {
  engine = await step('a container engine', startEngine);
  const compose = await readFile(join(import.meta.dirname, '../../compose.yaml'), 'utf8');
  const named = (name: string) => new RegExp(`image: (${name}:\\S+)`).exec(compose)?.[1] ?? '';
  const images = { postgres: named('postgres'), nats: named('nats') };
  const build = async () => {
    const { archive, tag } = await buildImage(engine.dir);
    await step('the image in the engine', () => engine.docker('load', '--quiet', '--input', archive));
    for (const name of [image, demoImage]) await engine.docker('tag', tag, name);
  };
  const importing = () => importEngines((...args) => engine.docker(...args), images, engine.dir);
  await Promise.all([
    build(),
    step('PostgreSQL and NATS of this machine as images', importing),
    step('docker compose', fetchCompose),
  ]);
}, 600_000);
afterAll(() => step('the end of the engine', async () => engine?.[Symbol.asyncDispose]()), 120_000);

test('the image has no trace of how this machine downloads packages', async () => {
  const countFiles = 'find /root /etc/ssl/certs/host-ca.crt -type f 2>/dev/null | wc -l';
  expect((await engine.docker('run', '--rm', '--user', '0', image, 'sh', '-c', countFiles)).trim()).toBe('0');
});

test('the one command of README.md shows a console link and matches', { timeout: 300_000 }, async () => {
  const project = join(import.meta.dirname, '../..');
  const [command = ''] =
    /docker compose -f \S+ up/.exec(await readFile(join(project, 'README.md'), 'utf8')) ?? [];
  const [, file = ''] = /-f (\S+)/.exec(command) ?? [];
  const folder = join(engine.dir, 'demo');
  await cp(join(project, 'deploy'), join(folder, 'deploy'), { recursive: true });
  await cp(join(project, file), join(folder, file));
  const compose = (...args: string[]) => engine.compose(folder, '-f', file, ...args);
  try {
    await step('the demo: from the command to the first match', async () => {
      await compose('up', '--detach');
      await eventually(
        async () => expect(await compose('logs', '--no-log-prefix', 'demo')).toContain('First match after'),
        soon,
      );
    });
    const log = await compose('logs', '--no-log-prefix', 'demo');
    const [, code = ''] = /http:\/\/127\.0\.0\.1:8080\/#code=(\S+)/.exec(log) ?? [];
    const [key = ''] = /esk_\w+/.exec(log) ?? [];
    const url = await engine.reach(8080);
    const signIn = await fetch(`${url}/console/session`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-earshot-console': '1',
        'sec-fetch-site': 'same-origin',
      },
      body: JSON.stringify({ code }),
    });
    expect([signIn.status, signIn.headers.get('set-cookie')]).toEqual([200, expect.any(String)]);
    const api = createApi(url, key);
    expect((await api.allMatches()).length).toBeGreaterThan(0);
  } catch (error) {
    throw new Error(await compose('logs'), { cause: error });
  } finally {
    await step('the demo: down', () => compose('down', '--volumes', '--timeout', '0'));
  }
});

describe.each([{ name: 'single' }, { name: 'cluster' }] as const)(
  'the profile $name of compose.yaml',
  (profile) => {
    let installation: Installation;
    let sandbox: SandboxClient;
    let api: Api;
    let ruleId: string;

    beforeAll(async () => {
      installation = await install(engine, profile);
      await step(`${profile.name}: up`, () => installation.up());
      sandbox = await installation.sandbox();
    }, 300_000);
    afterAll(() => step(`${profile.name}: down`, async () => installation?.[Symbol.asyncDispose]()), 120_000);

    const inServer = (script: string) => installation.compose('exec', '-T', 'earshot', 'sh', '-c', script);

    test('runs without privileges and capabilities, on a read-only root', async () => {
      const privileges =
        'id -u; grep -E "^(CapEff|CapBnd|NoNewPrivs)" /proc/1/status; touch /app/x 2>&1 || true';
      expect((await inServer(privileges)).trim().split('\n')).toEqual([
        '10001',
        'CapEff:\t0000000000000000',
        'CapBnd:\t0000000000000000',
        'NoNewPrivs:\t1',
        expect.stringContaining('Read-only file system'),
      ]);
    });

    test('answers on the published ports, API and metrics', async () => {
      // A container is healthy as soon as its process answers, which may be before the API listens.
      for (const port of [8080, 9464])
        await eventually(async () => {
          const answer = await fetch(`${await engine.reach(port)}/readyz`);
          expect([port, answer.status, await answer.json()]).toEqual([port, 200, { status: 'ready' }]);
        }, soon);
      const reference = await fetch(`${await engine.reach(8080)}/docs/scalar.js`);
      expect([reference.status, (await reference.text()).length > 1_000_000]).toEqual([200, true]);
      const metrics = await (await fetch(`${await engine.reach(9464)}/metrics`)).text();
      expect(metrics).toContain('earshot_source_state');
    });

    test('creates the first account as documented, and its rule gets matches of both platforms and a webhook', async () => {
      await step(`${profile.name}: account, rule, matches, webhook`, async () => {
        const { account_id: account } = JSON.parse(await installation.createAccount());
        const [key = ''] = (await installation.createKey(account)).split('\n');
        api = await installation.api(key);
        ({ rule_id: ruleId } = await api.createRule({ x: 'glacier', firehose: 'title:glacier' }));
        const hook = { name: 'Trial', url: 'http://127.0.0.1:7700/', rule_id: ruleId };
        expect(await api.call('POST', '/api.CreateWebhook', hook)).toMatchObject({ status: 200 });
        const url = 'https://news.example/first';
        const [post] = await sandbox.posts(['A glacier calves']);
        await sandbox.pages([{ url, title: 'Glacier retreats', text: 'ice' }]);
        const wanted = [post?.id ?? '', url];
        const listed = async () => (await api.allMatches()).map((match) => match.platform_post_id);
        await eventually(async () => expect((await listed()).toSorted()).toEqual(wanted.toSorted()), soon);
        const delivered = () => installation.compose('logs', '--no-log-prefix', 'receiver');
        for (const id of wanted) await eventually(async () => expect(await delivered()).toContain(id), soon);
      });
    });

    test('a node without the role api is healthy', async () => {
      await step(`${profile.name}: a node that only matches`, async () => {
        const asMatcher = ['--detach', '--no-deps', '--name', 'matcher', '-e', 'EARSHOT_ROLES=match'];
        await installation.compose('run', ...asMatcher, 'earshot');
        const health = () => engine.docker('inspect', '--format', '{{.State.Health.Status}}', 'matcher');
        await eventually(async () => expect((await health()).trim()).not.toBe('starting'), soon);
        expect((await health()).trim()).toBe('healthy');
        await engine.docker('rm', '--force', 'matcher');
      });
    });

    test('a server that is stopped under load and started again loses nothing', async () => {
      await step(`${profile.name}: stopped under load`, async () => {
        const load = startLoad(sandbox);
        // A post counts as delivered when the stream stayed open for two more seconds.
        await eventually(() => expect(load.postsOlderThan(3_000)).toBeGreaterThan(200), soon);
        await installation.compose('stop', 'earshot');
        const ended = await engine.docker('inspect', '--format', '{{.State.ExitCode}}', 'earshot-earshot-1');
        expect(ended.trim()).toBe('0');
        expect(await installation.compose('logs', '--tail', '1', 'earshot')).toContain('earshot is down');
        const atStop = load.sent.posts.length;
        await installation.compose('start', 'earshot');
        await eventually(
          async () => expect((await sandbox.xState('sandbox-x-token')).connections.open).toBe(1),
          soon,
        );
        const atStart = load.sent.posts.length;
        expect(atStart).toBeGreaterThan(atStop);
        await eventually(() => expect(load.sent.posts.length).toBeGreaterThan(atStart + 100), soon);
        await load.stop();
        const { undelivered, unconfirmed } = await sandbox.xState('sandbox-x-token');
        const excused = new Set([...undelivered, ...unconfirmed]);
        const posts = load.sent.posts.filter((id) => !excused.has(id));
        expect(posts.length).toBeGreaterThan(200);
        const delivered = [...posts, ...load.sent.pages];
        await eventually(
          async () => expect(missing(delivered, await listedIds(api, ruleId))).toEqual([]),
          soon,
        );
        const listed = await listedIds(api, ruleId);
        expect(new Set(listed).size).toBe(listed.length);
        // A post that was not stored would be missing here.
        const last = delivered.at(-1);
        expect(
          missing(
            delivered,
            listed.filter((id) => id !== last),
          ),
        ).toEqual([last]);
        console.log(`          ${delivered.length} delivered, ${listed.length} listed, none missing`);
      });
    });
  },
);

const missing = (delivered: readonly string[], listed: readonly string[]) => {
  const known = new Set(listed);
  return delivered.filter((id) => !known.has(id));
};

async function listedIds(api: Api, ruleId: string): Promise<string[]> {
  return (await api.allMatches({ rule_id: ruleId })).map((match) => match.platform_post_id);
}

/** Sends some hundred matching posts and pages per second, until it is stopped. */
function startLoad(sandbox: SandboxClient) {
  const sent: { posts: string[]; pages: string[] } = { posts: [], pages: [] };
  const postsAt: number[] = [];
  const stopping = new AbortController();
  const publish = async () => {
    for (let round = 0; !stopping.signal.aborted; round++) {
      const posts = await sandbox.posts(Array.from({ length: 5 }, (_, n) => `glacier ${round} ${n}`));
      sent.posts.push(...posts.map(({ id }) => id));
      postsAt.push(...posts.map(() => Date.now()));
      const urls = [1, 2].map((n) => `https://news.example/${round}/${n}`);
      await sandbox.pages(urls.map((url) => ({ url, title: `Glacier ${url}`, text: 'ice' })));
      sent.pages.push(...urls);
      await sleep(30);
    }
  };
  const published = publish();
  return {
    sent,
    postsOlderThan: (ms: number) => postsAt.filter((at) => at < Date.now() - ms).length,
    async stop() {
      stopping.abort();
      await published;
    },
  };
}
