import type { main as mainOfCli } from '../../apps/cli/src/main.ts';

/**
 * Loads the built command line once and runs the commands that it is sent, one at a time, each with its own words and
 * environment: `BuiltCli.runResident` starts it with the path of the built file.
 */
export interface ResidentRun {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const { main } = (await import(process.argv[2] ?? '')) as { main: typeof mainOfCli };

const said = { stdout: '', stderr: '' };
for (const name of ['stdout', 'stderr'] as const) {
  process[name].write = (text: string | Uint8Array) => {
    said[name] += String(text);
    return true;
  };
}

async function run({ words, env }: ResidentRun): Promise<void> {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.send?.({ code: await main(words), ...said });
  Object.assign(said, { stdout: '', stderr: '' });
}

process.on('message', (given: ResidentRun) => void run(given));
