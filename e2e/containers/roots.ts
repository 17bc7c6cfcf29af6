import { chmod, copyFile, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findPostgresBinaries } from '@earshot/engines';
import { run } from './run.ts';

/**
 * Root file systems in place of the official images, which need a registry: a program of this machine with its libraries,
 * and busybox as the shell.
 */

const folders = [
  'bin',
  'dev',
  'etc',
  'proc',
  'root',
  'run',
  'sys',
  'tmp',
  'usr/bin',
  'usr/lib',
  'usr/lib64',
  'usr/local/bin',
  'var/lib',
];
/** Host names and other files that npm packages expect on every system. */
const libraries =
  'libnss_dns.so.2 libnss_files.so.2 libresolv.so.2 libc.so.6 libdl.so.2 libgcc_s.so.1 libm.so.6 libpthread.so.0 librt.so.1';

async function makeRoot(root: string): Promise<void> {
  for (const folder of folders) await mkdir(join(root, folder), { recursive: true });
  await chmod(join(root, 'tmp'), 0o1777);
  await symlink('usr/lib', join(root, 'lib'));
  await symlink('usr/lib64', join(root, 'lib64'));
  await symlink('/run', join(root, 'var/run'));
  await copyFile('/bin/busybox', join(root, 'bin/busybox'));
  const tools = (await run('/bin/busybox', ['--list'])).trim().split('\n');
  for (const tool of tools) if (tool !== 'busybox') await symlink('/bin/busybox', join(root, 'bin', tool));
  await symlink('/bin/busybox', join(root, 'usr/bin/env'));
  await writeFile(
    join(root, 'etc/passwd'),
    'root:x:0:0:root:/root:/bin/sh\npostgres:x:999:999::/var/lib/postgresql:/bin/sh\n',
  );
  await writeFile(join(root, 'etc/group'), 'root:x:0:\npostgres:x:999:\n');
  await writeFile(join(root, 'etc/nsswitch.conf'), 'hosts: files dns\n');
  const known = (await run('ldconfig', ['-p'])).split('\n');
  for (const name of libraries.split(' ')) {
    const found = known.find((line) => line.trim().startsWith(`${name} `))?.split(' => ')[1];
    if (found !== undefined) await take(root, [found]);
  }
}

/** Files under their own paths, links followed. */
async function take(root: string, files: readonly string[]): Promise<void> {
  for (const file of files) {
    await mkdir(join(root, dirname(file)), { recursive: true });
    await copyFile(file, join(root, file));
  }
}

/** A program with the libraries that it is linked to. */
async function takePrograms(root: string, programs: readonly string[]): Promise<void> {
  // It fails for statically linked programs.
  const linked = await run('ldd', programs).catch((error: { stdout?: string }) => error.stdout ?? '');
  await take(root, [...new Set(linked.match(/\/[^\s)]+(?= \(0x)/g) ?? [])]);
}

async function addScript(root: string, path: string, text: string): Promise<void> {
  await writeFile(join(root, path), text);
  await chmod(join(root, path), 0o755);
}

/** The running Node and its npm, as the Dockerfile expects them. */
export async function makeNodeRoot(root: string, npmFolder: string): Promise<void> {
  await makeRoot(root);
  await takePrograms(root, [process.execPath]);
  await copyFile(process.execPath, join(root, 'usr/local/bin/node'));
  const modules = join(root, 'usr/local/lib/node_modules');
  await mkdir(modules, { recursive: true });
  await run('cp', ['--archive', npmFolder, join(modules, 'npm')]);
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
}

export async function makeNatsRoot(root: string, natsServer: string): Promise<void> {
  await makeRoot(root);
  await takePrograms(root, [natsServer]);
  await copyFile(natsServer, join(root, 'usr/local/bin/nats-server'));
  await addScript(root, 'usr/local/bin/docker-entrypoint.sh', '#!/bin/sh\nexec nats-server "$@"\n');
}

/** What compose.yaml needs of the official image's entry point: the first start creates the cluster and runs the scripts. */
const postgresEntryPoint = `#!/bin/sh
set -e
chown postgres:postgres "$PGDATA" /run/postgresql
chmod 700 "$PGDATA"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  echo "$POSTGRES_PASSWORD" > /tmp/password
  chown postgres /tmp/password
  gosu postgres initdb -D "$PGDATA" -U "$POSTGRES_USER" --pwfile=/tmp/password --auth-local=trust $POSTGRES_INITDB_ARGS >/dev/null
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  gosu postgres pg_ctl -D "$PGDATA" -w -o '-c listen_addresses= -k /run/postgresql' start >/dev/null
  export PGHOST=/run/postgresql
  for script in /docker-entrypoint-initdb.d/*.sh; do if [ -e "$script" ]; then . "$script"; fi; done
  gosu postgres pg_ctl -D "$PGDATA" -w -m fast stop >/dev/null
fi
exec gosu postgres "$@" -D "$PGDATA" -k /run/postgresql -c listen_addresses='*'
`;

/** Returns the folder of its programs. */
export async function makePostgresRoot(root: string): Promise<string> {
  await makeRoot(root);
  const bin = await findPostgresBinaries();
  const home = dirname(bin);
  const version = home.split('/').at(-1) ?? '';
  const folders = [home, `/usr/share/postgresql/${version}`, '/usr/lib/locale/C.utf8', '/usr/share/zoneinfo'];
  await run('cp', ['--recursive', '--dereference', '--parents', ...folders, root]);
  // Without the JIT compiler, which is most of its size and optional.
  const isCompiler = (file: string) => /llvmjit|bitcode/.test(file);
  const inFolder = async (folder: string) => (await readdir(folder)).map((name) => join(folder, name));
  const inLibrary = await inFolder(join(home, 'lib'));
  for (const file of inLibrary.filter(isCompiler)) await rm(join(root, file), { recursive: true });
  const modules = inLibrary.filter((file) => file.endsWith('.so') && !isCompiler(file));
  await takePrograms(root, [...(await inFolder(bin)), ...modules, '/usr/sbin/gosu']);
  await take(root, ['/usr/sbin/gosu']);
  await mkdir(join(root, 'var/lib/postgresql/data'), { recursive: true });
  await mkdir(join(root, 'run/postgresql'), { recursive: true });
  await addScript(root, 'usr/local/bin/docker-entrypoint.sh', postgresEntryPoint);
  return bin;
}
