import { appendFile, chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createApi } from '../src/api.ts';
import { readShellBlocks } from '../src/page-blocks.ts';
import { createSandboxClient } from '../src/sandbox-client.ts';
import { composeProgram, type Engine } from './engine.ts';
import { run } from './run.ts';

const project = join(import.meta.dirname, '../..');

/** The commands of an operator who follows docs/operations/install.md. */
async function readCommands() {
  const path = 'docs/operations/install.md';
  const [first = '', afterChange = ''] = await readShellBlocks(path);
  const commands = first.split('\n');
  const isDocker = (command: string) => command.startsWith('docker ');
  const [up = '', createAccount = ''] = commands.filter(isDocker);
  if (afterChange !== up) throw new Error(`${path} starts a changed installation with another command`);
  const page = await readFile(join(project, path), 'utf8');
  const [, createKey = ''] = /`(docker compose exec [^`]+ create-key [^`]+)`/.exec(page) ?? [];
  return { prepare: commands.filter((command) => !isDocker(command)), up, createAccount, createKey };
}

export interface Profile {
  readonly name: 'single' | 'cluster';
}

export type Installation = Awaited<ReturnType<typeof install>>;

/** Follows the page in an otherwise empty folder; the sandbox replaces the platforms. */
export async function install(engine: Engine, { name }: Profile) {
  const folder = join(engine.dir, name);
  await mkdir(folder);
  await cp(join(project, 'compose.yaml'), join(folder, 'compose.yaml'));
  await cp(join(project, 'deploy'), join(folder, 'deploy'), { recursive: true });
  await cp(join(import.meta.dirname, 'sandbox.compose.yaml'), join(folder, 'sandbox.yaml'));
  const env = await composeOnly(engine, folder);
  const shell = (command: string) => run('sh', ['-ec', command], { cwd: folder, env });
  const { prepare, up, createAccount, createKey } = await readCommands();
  for (const command of prepare) await shell(command);
  await appendFile(join(folder, '.env'), `COMPOSE_PROFILES=${name}\n`);
  await appendFile(join(folder, 'earshot.env'), sandboxSettings);
  const compose = (...args: string[]) =>
    engine.compose(folder, '-f', 'compose.yaml', '-f', 'sandbox.yaml', ...args);
  return {
    compose,
    async up() {
      await shell(up);
      await shell(allowManyRequests);
    },
    createAccount: () => shell(`${createAccount} --json`),
    createKey: (account: string) => shell(createKey.replace('<id>', account)),
    async sandbox() {
      return createSandboxClient(await engine.reach(7600));
    },
    async api(key: string) {
      return createApi(await engine.reach(8080), key);
    },
    async [Symbol.asyncDispose]() {
      await compose('down', '--volumes', '--timeout', '0');
    },
  };
}

const allowManyRequests = `docker compose exec -T earshot sh -c 'node apps/cli/src/main.ts admin plans set paid requests=100000 --database-url "$EARSHOT_MIGRATION_DATABASE_URL"'`;

const sandboxSettings = `
EARSHOT_X_TOKENS=main=sandbox-x-token
EARSHOT_FIREHOSE_TOKENS=main=fh_sandbox
EARSHOT_X_BASE_URL=http://sandbox:7600
EARSHOT_FIREHOSE_BASE_URL=http://sandbox:7600
EARSHOT_TEST=xRuleDelayMs=0,allowInsecureWebhooks=true
EARSHOT_RULE_BUDGET=off
`;

/** A `docker` that supports only "compose", and uses the image that was built already. */
async function composeOnly(engine: Engine, folder: string): Promise<Record<string, string>> {
  const bin = join(folder, 'bin');
  await mkdir(bin);
  const program = `#!/bin/sh
[ "$1" = compose ] && shift
for word; do
  shift
  [ "$word" = --build ] && word=--no-build
  set -- "$@" "$word"
done
exec ${composeProgram} "$@"
`;
  await writeFile(join(bin, 'docker'), program);
  await chmod(join(bin, 'docker'), 0o755);
  return {
    PATH: `${bin}:${process.env['PATH']}`,
    DOCKER_HOST: engine.host,
    COMPOSE_FILE: 'compose.yaml:sandbox.yaml',
  };
}
