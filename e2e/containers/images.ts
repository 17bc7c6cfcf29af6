import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { findNatsServer } from '@earshot/engines';
import { makeNatsRoot, makeNodeRoot, makePostgresRoot } from './roots.ts';
import { run, step } from './run.ts';

const project = join(import.meta.dirname, '../..');
const installPage = join(project, 'docs/operations/install.md');
/** Kept between runs: downloads, and the Node image. */
export const cache = join(project, '.tools/containers');
const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** `buildah` with its own store, and limits that a root without CAP_SYS_RESOURCE may set. */
async function createBuildah(): Promise<(...args: string[]) => Promise<string>> {
  await mkdir(cache, { recursive: true });
  const containers = join(cache, 'containers.conf');
  const storage = join(cache, 'storage.conf');
  await writeFile(
    containers,
    '[containers]\ndefault_ulimits = ["nofile=16384:16384", "nproc=8192:8192"]\n[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\n',
  );
  await writeFile(
    storage,
    `[storage]\ndriver = "overlay"\ngraphroot = "${cache}/store"\nrunroot = "${cache}/store-run"\n`,
  );
  const env = { CONTAINERS_CONF: containers, CONTAINERS_STORAGE_CONF: storage };
  return (...args) => run('buildah', args, { cwd: project, env });
}

/** The name under which buildah finds the base image of the Dockerfile. */
const inFull = (image: string) => `docker.io/library/${image}`;

/** Builds the Dockerfile with the page's command, on this machine's Node. Returns an archive for `docker load`, and its tag. */
export async function buildImage(dir: string): Promise<{ archive: string; tag: string }> {
  const buildah = await createBuildah();
  const [, words = ''] = /`docker (build [^`]+)`/.exec(await readFile(installPage, 'utf8')) ?? [];
  const command = words.replace('<registry>', 'registry.example.com').split(' ');
  const tag = command[command.indexOf('--tag') + 1] ?? '';
  const dockerfile = await readFile(join(project, 'Dockerfile'), 'utf8');
  const [, base = ''] = /^FROM (\S+)/m.exec(dockerfile) ?? [];
  await step(`${base} from the Node of this machine`, () => makeNodeImage(buildah, base));
  await step('the Dockerfile', async () => {
    const registry = (await run('npm', ['config', 'get', 'registry'])).trim();
    const npmrc = join(dir, 'npmrc');
    const authority = '/etc/ssl/certs/host-ca.crt';
    await writeFile(
      npmrc,
      `registry=${registry}\ncafile=${authority}\naudit=false\nfund=false\nupdate-notifier=false\nprefer-offline=true\n`,
    );
    // Mounted during the build only: the image must not contain this machine's proxy settings or package caches.
    const [store, npmCache] = await Promise.all([
      run('pnpm', ['store', 'path'], { cwd: project }),
      run('npm', ['config', 'get', 'cache']),
    ]);
    // pnpm's cached verification of the lockfile, which takes half a minute.
    const pnpmCache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'pnpm');
    await mkdir(pnpmCache, { recursive: true });
    const volumes = [
      `${npmrc}:/root/.npmrc:ro`,
      `/etc/ssl/certs/ca-certificates.crt:${authority}:ro`,
      `${dirname(store.trim())}:/root/.local/share/pnpm/store`,
      `${pnpmCache}:/root/.cache/pnpm`,
      `${npmCache.trim()}:/root/.npm`,
    ];
    const mounts = volumes.flatMap((volume) => ['--volume', volume]);
    // Without a layer per step, which would take as long as the steps themselves.
    const options = ['--quiet', '--format', 'docker', '--network', 'host', '--layers=false', '--pull-never'];
    const [build = '', ...rest] = command;
    await buildah(build, ...options, ...mounts, ...rest);
  });
  const archive = join(dir, 'image.tar');
  await step('the image as an archive', async () => {
    await buildah('push', '--quiet', tag, `docker-archive:${archive}:${tag}`);
    await buildah('rmi', tag);
  });
  return { archive, tag };
}

async function makeNodeImage(
  buildah: Awaited<ReturnType<typeof createBuildah>>,
  base: string,
): Promise<void> {
  const recipe = await readFile(join(import.meta.dirname, 'roots.ts'), 'utf8');
  const label = createHash('sha256').update(`${process.version} ${recipe}`).digest('hex');
  const format = '{{index .Docker.Config.Labels "recipe"}}';
  const made = await buildah('inspect', '--type', 'image', '--format', format, inFull(base)).catch(() => '');
  if (made.trim() === label) return;
  const container = (await buildah('from', 'scratch')).trim();
  await makeNodeRoot((await buildah('mount', container)).trim(), await findNpm());
  await buildah('config', '--env', `PATH=${path}`, '--cmd', 'node', '--label', `recipe=${label}`, container);
  await buildah('commit', '--quiet', '--format', 'docker', '--rm', container, inFull(base));
}

/** The folder of this machine's npm, unless its files are scattered as in Debian. */
async function findNpm(): Promise<string> {
  const own = join((await run('npm', ['root', '--global'])).trim(), 'npm');
  if (await run('node', [join(own, 'bin/npm-cli.js'), '--version']).catch(() => null)) return own;
  const npm = join(cache, 'npm');
  await run('npm', ['install', '--prefix', npm, '--no-audit', '--no-fund', '--loglevel=error', 'npm@11']);
  return join(npm, 'node_modules/npm');
}

/** Loads stand-ins for the PostgreSQL and NATS images of compose.yaml into the engine. */
export async function importEngines(
  docker: (...args: string[]) => Promise<string>,
  images: { readonly postgres: string; readonly nats: string },
  dir: string,
): Promise<void> {
  const entryPoint = 'ENTRYPOINT ["docker-entrypoint.sh"]';
  const add = async (root: string, tag: string, changes: readonly string[]) => {
    const archive = `${root}.tar`;
    await run('tar', ['-C', root, '-cf', archive, '.']);
    await docker('import', ...changes.flatMap((change) => ['--change', change]), archive, tag);
    await rm(archive);
  };
  const nats = join(dir, 'nats');
  const configured = process.env['EARSHOT_NATS_SERVER'];
  await makeNatsRoot(nats, await findNatsServer({ cacheDir: join(project, '.earshot/cache'), configured }));
  await add(nats, images.nats, [`ENV PATH=${path}`, entryPoint]);
  const postgres = join(dir, 'postgres');
  const bin = await makePostgresRoot(postgres);
  await add(postgres, images.postgres, [
    `ENV PATH=${bin}:${path}`,
    'ENV PGDATA=/var/lib/postgresql/data',
    entryPoint,
    'CMD ["postgres"]',
  ]);
}
