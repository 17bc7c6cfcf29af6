import type { Command } from './command.ts';
import { admin } from './commands/admin.ts';
import { demo } from './commands/demo.ts';
import { mcp } from './commands/mcp.ts';
import { services } from './commands/services.ts';

const commands: readonly Command[] = [demo, services, admin, mcp];

async function main([name, ...args]: string[]): Promise<number> {
  const command = commands.find((candidate) => candidate.name === name);
  if (command === undefined) {
    const isHelp = name === undefined || name === 'help' || name === '--help' || name === '-h';
    if (isHelp) console.log(help());
    else console.error(`earshot: no such command: ${name}\n\n${help()}`);
    return isHelp ? 0 : 2;
  }
  if (args.includes('--help') || args.includes('-h')) {
    console.log(command.usage);
    return 0;
  }
  return command.run(args);
}

function help(): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    'Usage: earshot <command> [options]',
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'earshot <command> --help tells more.',
  ].join('\n');
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}\nCause: ${explain(error.cause)}`;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
