import { setTimeout as sleep } from 'node:timers/promises';
import { createEarshot } from '@earshot/sdk';
import type { Context } from '../command.ts';
import { createConsoleLink } from '../console-link.ts';
import { firstRule, firstRuleLive, guide } from '../demo/guide.ts';
import { choosePorts } from '../demo/ports.ts';
import { createKeys, type Demo, startDemo } from '../demo/start-demo.ts';
import { followFrom, noticingFetch } from '../follow.ts';
import { matchLine } from '../output/match-line.ts';
import type { Screen } from '../output/screen.ts';
import { aborted, exitCodeOfStop, listenForStop } from '../output/stop.ts';

interface DemoOptions {
  readonly port: number | undefined;
  readonly feed: string;
  readonly cluster: boolean;
  /** A Jetstream instance; null without Bluesky. */
  readonly blueskyUrl: string | null;
}

export async function runDemo(
  { feed, cluster, blueskyUrl, ...wanted }: DemoOptions,
  { env, isJson, screen, self }: Context,
): Promise<number> {
  const startedAt = new Date();
  const stop = listenForStop();
  const ports = await choosePorts(wanted.port, isJson);
  screen.note('Starting a private Earshot …');
  try {
    await using running = await startDemo({
      ports,
      feed,
      blueskyUrl,
      natsNodes: cluster ? 3 : 1,
      env,
      signal: stop.signal,
      log: screen.note,
    });
    void running.ended.then((words) => stop.abort(new Error(words)));
    if (isJson) await serveProgram(running, screen, stop.signal);
    else {
      const rule = blueskyUrl === null ? firstRule : firstRuleLive;
      await serveReader(running, screen, { signal: stop.signal, startedAt, self, rule });
    }
    screen.note('\nStopping …');
  } catch (error) {
    // A signal during the start also ends its tools, whose errors are not useful.
    if (!stop.signal.aborted || stop.signal.reason instanceof Error) throw error;
    return exitCodeOfStop(stop.signal);
  }
  if (stop.signal.reason instanceof Error) throw stop.signal.reason;
  screen.note('Everything has stopped, and its data is deleted.');
  return 0;
}

/** Uses a running server, and the sandbox on its usual port. Both publish their ports on this machine. */
export async function runDemoOn(baseUrl: string, { env, screen, self }: Context): Promise<number> {
  const startedAt = new Date();
  const { signal } = listenForStop();
  // A container counts as healthy before its API listens.
  while (!signal.aborted && !(await fetch(`${baseUrl}/readyz`).catch(() => null))?.ok) await sleep(200);
  const keys = await createKeys(env['EARSHOT_DATABASE_URL'] ?? '');
  const publicUrl = `http://127.0.0.1:${new URL(baseUrl).port}`;
  const sandboxUrl = 'http://127.0.0.1:7600';
  await serveReader({ baseUrl, sandboxUrl, keys }, screen, { signal, startedAt, self, publicUrl });
  return exitCodeOfStop(signal);
}

async function serveProgram(running: Demo, screen: Screen, signal: AbortSignal): Promise<void> {
  const { baseUrl, sandboxUrl, keys } = running;
  const [apiKey, secondApiKey] = keys;
  const { url: consoleUrl } = await createConsoleLink({ url: baseUrl, key: apiKey });
  const line = {
    base_url: baseUrl,
    api_key: apiKey,
    second_api_key: secondApiKey,
    sandbox_url: sandboxUrl,
    console_url: consoleUrl,
  };
  screen.print(JSON.stringify(line));
  await aborted(signal);
}

interface Shown {
  readonly signal: AbortSignal;
  readonly startedAt: Date;
  /** How the user starts `earshot`. */
  readonly self: string;
  /** The address for the user, if it differs from the address for this process. */
  readonly publicUrl?: string;
  readonly rule?: typeof firstRule;
}

/** Creates the first rule, prints the guide, and shows matches until the signal. */
async function serveReader(
  { baseUrl, sandboxUrl, keys }: Pick<Demo, 'baseUrl' | 'sandboxUrl' | 'keys'>,
  screen: Screen,
  { signal, startedAt, self, publicUrl = baseUrl, rule = firstRule }: Shown,
): Promise<void> {
  const seconds = () => ((Date.now() - startedAt.getTime()) / 1_000).toFixed(1);
  const earshot = createEarshot({ url: baseUrl, key: keys[0], fetch: noticingFetch(screen.note) });
  try {
    await earshot.createRule(rule, { signal });
    screen.note(`Ready after ${seconds()} s.`);
    const link = await createConsoleLink({ url: baseUrl, key: keys[0] });
    const consoleUrl = publicUrl + link.url.slice(baseUrl.length);
    screen.print(guide({ baseUrl: publicUrl, consoleUrl, sandboxUrl, keys, self }, screen));
    let shown = 0;
    for await (const match of followFrom(earshot, {
      filter: {},
      from: startedAt.toISOString(),
      signal,
      note: screen.note,
    })) {
      screen.print(matchLine(match, screen));
      if (shown === 0) screen.note(`First match after ${seconds()} s.`);
      shown += 1;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
