import { constants } from 'node:os';
import { parseArgs } from 'node:util';
import type { Command } from '../command.ts';
import { createDemoApi } from '../demo/api.ts';
import { firstRule, guide } from '../demo/guide.ts';
import { matchLine } from '../demo/match-line.ts';
import { choosePort } from '../demo/ports.ts';
import { type Demo, startDemo } from '../demo/start-demo.ts';
import { aborted, listenForStop } from '../demo/stop.ts';

const usage = `Usage: earshot demo [options]

Starts a whole Earshot on this machine, with private engines, and a sandbox with a live feed in the place of X and
Firehose. Shows matches as they arrive. Ctrl+C stops everything and deletes its data.

  --port <n>            port of the API (default: 8080 if it is free)
  --feed <posts,pages>  made-up posts and pages per second (default 4,1)
  --cluster             three NATS nodes instead of one
  --json                for programs: no rule, a free port, and one line on stdout when it is ready:
                        {"base_url","api_key","second_api_key","sandbox_url"}; runs until SIGTERM

Examples:
  pnpm demo
  pnpm demo --feed 20,5
  pnpm demo --json`;

const columnsWithoutTerminal = 120;

export const demo: Command = {
  name: 'demo',
  summary: 'start everything on this machine and watch matches arrive',
  usage,
  async run(args) {
    const { values } = parseArgs({
      args,
      options: {
        port: { type: 'string' },
        feed: { type: 'string', default: '4,1' },
        cluster: { type: 'boolean' },
        json: { type: 'boolean', default: false },
      },
    });
    if (!/^\d+(\.\d+)?,\d+(\.\d+)?$/.test(values.feed)) {
      throw new Error('--feed takes posts and pages per second, such as 4,1');
    }
    const stop = listenForStop();
    const port = await choosePort(readPort(values.port), values.json);
    try {
      await runDemo({ ...values, port, stop });
    } catch (error) {
      // A signal that ends a start also ends its tools, in ways that tell nobody anything.
      if (!stop.signal.aborted || stop.signal.reason instanceof Error) throw error;
      return 128 + (constants.signals[stop.signal.reason as NodeJS.Signals] ?? 0);
    }
    return 0;
  },
};

interface RunOptions {
  readonly port: number;
  readonly feed: string;
  readonly cluster?: boolean | undefined;
  readonly json: boolean;
  readonly stop: AbortController;
}

async function runDemo({ port, feed, cluster, json, stop }: RunOptions): Promise<void> {
  const startedAt = performance.now();
  console.error('Starting a private Earshot …');
  {
    await using running = await startDemo({
      port,
      feed,
      natsNodes: cluster === true ? 3 : 1,
      natsServer: process.env['EARSHOT_NATS_SERVER'],
      signal: stop.signal,
      log: console.error,
    });
    void running.ended.then((words) => stop.abort(new Error(words)));
    if (json) await serveProgram(running, stop.signal);
    else await serveReader(running, stop.signal, startedAt);
    console.error('\nStopping …');
  }
  if (stop.signal.reason instanceof Error) throw stop.signal.reason;
  console.error('Everything has stopped, and its data is deleted.');
}

async function serveProgram({ baseUrl, sandboxUrl, keys }: Demo, signal: AbortSignal): Promise<void> {
  const [apiKey, secondApiKey] = keys;
  const line = { base_url: baseUrl, api_key: apiKey, second_api_key: secondApiKey, sandbox_url: sandboxUrl };
  console.log(JSON.stringify(line));
  await aborted(signal);
}

async function serveReader(running: Demo, signal: AbortSignal, startedAt: number): Promise<void> {
  const api = createDemoApi({ baseUrl: running.baseUrl, key: running.keys[0] });
  await api.createRule(firstRule);
  console.error(`Ready after ${((performance.now() - startedAt) / 1_000).toFixed(1)} s.`);
  console.log(guide(running));
  const onFailure = (error: unknown) => console.error(`Asking again for matches: ${String(error)}`);
  for await (const match of api.follow(signal, onFailure)) {
    console.log(matchLine(match, process.stdout.columns || columnsWithoutTerminal));
  }
}

function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new Error('--port takes a number from 0 to 65535');
  return port;
}
