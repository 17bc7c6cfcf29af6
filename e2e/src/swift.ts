import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '@earshot/engines';
import { eventually } from '@earshot/testkit';
import aws4 from 'aws4';

/** The packages of Debian that are missing, for `skipUnless`. */
export const missingSwift = existsSync('/usr/bin/swift-proxy-server')
  ? null
  : 'swift swift-account swift-container swift-object swift-proxy';

const keys = { accessKeyId: 'test:tester', secretAccessKey: 'testing', region: 'eu-central-1' };

/** OpenStack Swift with its interface for S3: a storage with one disk, in a new folder. */
export async function startSwift() {
  await using stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'earshot-swift-'));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  await mkdir(join(dir, 'disks/d1'), { recursive: true });
  const swift =
    '[swift-hash]\nswift_hash_path_suffix = a\nswift_hash_path_prefix = b\n[storage-policy:0]\nname = only\ndefault = yes\n';
  await writeFile(join(dir, 'swift.conf'), swift);
  const [proxyPort = 0, ...ports] = await freePorts(4);
  const common = (port: number) =>
    `[DEFAULT]\nbind_ip = 127.0.0.1\nbind_port = ${port}\nswift_dir = ${dir}\ndevices = ${dir}/disks\nmount_check = false\nuser = root\nworkers = 0\nfallocate_reserve = 0\n`;
  const start = async (name: string, port: number, config: string) => {
    const file = join(dir, `${name}.conf`);
    await writeFile(file, common(port) + config);
    const program = spawn(`swift-${name}-server`, [file], { cwd: dir, stdio: 'ignore' });
    stack.defer(async () => {
      const exited = once(program, 'exit');
      program.kill();
      await exited;
    });
    await eventually(
      async () => {
        const socket = connect(port, '127.0.0.1');
        await once(socket, 'connect').finally(() => socket.destroy());
      },
      { timeoutMs: 120_000, intervalMs: 200 },
    );
  };
  for (const [index, name] of ['account', 'container', 'object'].entries()) {
    const port = ports[index] ?? 0;
    const ring = (...words: string[]) =>
      execFileSync('swift-ring-builder', [`${name}.builder`, ...words], { cwd: dir });
    ring('create', '2', '1', '1');
    ring('add', `r1z1-127.0.0.1:${port}/d1`, '1');
    ring('rebalance');
    await start(
      name,
      port,
      `[pipeline:main]\npipeline = ${name}-server\n[app:${name}-server]\nuse = egg:swift#${name}\n`,
    );
  }
  const filters = ['catch_errors', 's3api', 'tempauth'].map(
    (name) => `[filter:${name}]\nuse = egg:swift#${name}\n`,
  );
  await start(
    'proxy',
    proxyPort,
    // Nothing listens there: Swift works without a cache, but not without the filter.
    `[pipeline:main]\npipeline = catch_errors cache s3api tempauth proxy-server\n[app:proxy-server]\nuse = egg:swift#proxy\naccount_autocreate = true
[filter:cache]\nuse = egg:swift#memcache\nmemcache_servers = 127.0.0.1:1\n${filters.join('')}user_test_tester = testing .admin\n`.replace(
      'use = egg:swift#s3api\n',
      `use = egg:swift#s3api\nlocation = ${keys.region}\n`,
    ),
  );
  const call = async (method: 'GET' | 'PUT', path: string): Promise<Buffer> => {
    const host = `127.0.0.1:${proxyPort}`;
    const signed = aws4.sign({ service: 's3', region: keys.region, method, path, host, headers: {} }, keys);
    const answer = await fetch(`http://${host}${path}`, { method, headers: Object(signed.headers) });
    const body = Buffer.from(await answer.arrayBuffer());
    if (!answer.ok) throw new Error(`${answer.status} ${body.toString()}`);
    return body;
  };
  const running = stack.move();
  return {
    ...keys,
    endpoint: `http://127.0.0.1:${proxyPort}`,
    createBucket: (bucket: string) => call('PUT', `/${bucket}`),
    /** The names of all objects. */
    async list(bucket: string): Promise<string[]> {
      const xml = (await call('GET', `/${bucket}`)).toString();
      return Array.from(xml.matchAll(/<Key>([^<]+)<\/Key>/g), ([, name = '']) => name);
    },
    read: (bucket: string, name: string) => call('GET', `/${bucket}/${name.replaceAll('=', '%3D')}`),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
