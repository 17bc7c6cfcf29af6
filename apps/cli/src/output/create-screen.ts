import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { Failure, usageFailure } from '../failure.ts';
import type { Screen } from './screen.ts';

export const columnsWithoutTerminal = 120;
const progressMs = 1_000;

interface Streams {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

export function createScreen({ stdin, stdout, stderr }: Streams, { noColor }: { noColor: boolean }): Screen {
  // The progress line is erased before other output.
  const waiting = { isShown: false };
  const wipe = () => {
    if (waiting.isShown) stderr.write('\r\u001b[K');
    waiting.isShown = false;
  };
  return {
    print: (text) => void stdout.write(`${text}\n`),
    note: (text) => {
      wipe();
      stderr.write(`${text}\n`);
    },
    // styleText itself checks whether the stream is a terminal, NO_COLOR and FORCE_COLOR.
    paint: (style, text) => (noColor ? text : styleText(style, text, { stream: stdout })),
    isTerminal: stdout.isTTY,
    get columns() {
      return stdout.columns || columnsWithoutTerminal;
    },
    isInteractive: stdin.isTTY && stderr.isTTY,
    ask: (question, isSecret = false) => ask({ stdin, stderr }, question, isSecret),
    progress: (text) => {
      if (!stderr.isTTY) return;
      wipe();
      waiting.isShown = true;
      stderr.write(text);
    },
    waitFor: async (words, work) => {
      const startedAt = performance.now();
      const show = () => {
        waiting.isShown = true;
        stderr.write(`\r${words} … ${Math.round((performance.now() - startedAt) / 1_000)} s`);
      };
      const timer = stderr.isTTY ? setInterval(show, progressMs) : undefined;
      try {
        return await work;
      } finally {
        clearInterval(timer);
        wipe();
      }
    },
  };
}

/** Without a terminal, the answer is the first line of stdin: `earshot login < key.txt`. */
async function ask(
  { stdin, stderr }: Pick<Streams, 'stdin' | 'stderr'>,
  question: string,
  isSecret: boolean,
): Promise<string> {
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({
    input: stdin,
    output: isSecret ? silence : stderr,
    terminal: stdin.isTTY,
  });
  try {
    if (isSecret && stdin.isTTY) stderr.write(question);
    return await new Promise<string>((resolve, reject) => {
      // Readline handles Ctrl+C itself, and would never end the question.
      lines.once('SIGINT', () => reject(new Failure('interrupted', '')));
      lines.once('close', () => reject(usageFailure('The input has ended. Give the value as an option.')));
      void lines.question(isSecret ? '' : question).then(resolve, reject);
    });
  } finally {
    lines.close();
    if (isSecret && stdin.isTTY) stderr.write('\n');
  }
}
