import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AnswerOf } from '@earshot/contract';
import { expect } from 'vitest';
import { type BuiltCli, buildCliOnce, type Outcome, type RunOptions } from '../built-cli.ts';
import { type Account, type ServerUnderTest, startWorld, type World } from '../world.ts';

/** The built file, what it talks to, and what one row leaves behind for the next ones. */
export interface Scene extends AsyncDisposable {
  readonly world: World;
  readonly server: ServerUnderTest;
  readonly account: Account;
  readonly cli: BuiltCli;
  /** An endpoint that takes everything, and the ids of the messages that came. */
  readonly endpoint: { readonly url: string; readonly received: readonly string[] };
  rule: AnswerOf<'CreateRule'>;
  webhook: AnswerOf<'CreateWebhook'>;
  cursor: string;
}

/** Runs the command of the row, with more words behind its name, in a folder far from the repository. */
export interface Earshot {
  (...words: string[]): Promise<Outcome>;
  /** The answer with `--json`. */
  json(...words: string[]): Promise<unknown>;
  with(options: RunOptions, ...words: string[]): Promise<Outcome>;
}

export type Rows = Readonly<Record<string, (earshot: Earshot, scene: Scene) => Promise<void>>>;

export async function startScene(): Promise<Scene> {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await startWorld());
  const server = await world.startServer({
    EARSHOT_SECRETS_KEY: randomBytes(32).toString('base64'),
    EARSHOT_TEST: 'allowInsecureWebhooks=true',
  });
  const account = await world.newAccount();
  const cli = stack.use(
    await buildCliOnce(() => ({ EARSHOT_URL: server.url, EARSHOT_API_KEY: account.key })),
  );
  const endpoint = await startEndpoint(stack);
  const running = stack.move();
  return {
    world,
    server,
    account,
    cli,
    endpoint,
    rule: { rule_id: '', platforms: {} },
    webhook: { webhook_id: '', secret: null, created_at: '' },
    cursor: '',
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function startEndpoint(stack: AsyncDisposableStack): Promise<Scene['endpoint']> {
  const received: string[] = [];
  const endpoint = createServer((request, response) => {
    received.push(String(request.headers['webhook-id']));
    request.resume();
    response.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  stack.defer(() => {
    endpoint.closeAllConnections();
    endpoint.close();
  });
  await once(endpoint, 'listening');
  return { url: `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/`, received };
}

/** The first run of a command is a process of its own, which must end; after it those that need no input share one. */
export function earshotOf({ cli }: Scene, name: string): Earshot {
  const path = name.split(' ');
  let hasRun = false;
  const runWith = (options: RunOptions, ...words: string[]) => {
    const { env, ...others } = options;
    const isResident = hasRun && Object.keys(others).length === 0;
    hasRun = true;
    return isResident ? cli.runResident([...path, ...words], env) : cli.run([...path, ...words], options);
  };
  const run = (...words: string[]) => runWith({}, ...words);
  return Object.assign(run, {
    with: runWith,
    async json(...words: string[]) {
      const { code, stdout, stderr } = await run(...words, '--json');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^[^\n]*\n$/);
      return JSON.parse(stdout);
    },
  });
}

/** A success that says nothing beside its result. */
export const done = (stdout: unknown) => ({ code: 0, stdout, stderr: '' });
export const saying = (text: string) => expect.stringContaining(text);
/** What a person sees of the one post. */
export const matchLine = /^\d\d:\d\d:\d\d {2}x {9}@someone {18}the comet is here$/m;
