import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository } from './demo-process.ts';
import { pagesWithCommands } from './pages-with-commands.ts';

export interface Block {
  readonly language: string;
  /** The text behind the language: the name of a file. */
  readonly name: string;
  readonly text: string;
}

/** The fenced blocks of a page, in order; those in lists without their indentation. */
export async function readBlocks(path: string): Promise<Block[]> {
  const page = await readFile(join(repository, path), 'utf8');
  return [...page.matchAll(/^( *)```(\w+) ?([^\n]*)\n(.*?)^\1```$/gms)].map(
    ([, indentation = '', language = '', name = '', text = '']) => ({
      language,
      name,
      text: text
        .split('\n')
        .map((line) => line.replace(indentation, ''))
        .join('\n')
        .trimEnd(),
    }),
  );
}

export async function readShellBlocks(path: string): Promise<string[]> {
  return (await readBlocks(path)).filter(({ language }) => language === 'sh').map(({ text }) => text);
}

/**
 * The shell blocks of a page that a test runs, in order, under the test's names. Fails if the page has more or fewer of
 * them, so that a test cannot omit one.
 */
export async function readCommands<const Name extends string>(
  path: string,
  names: readonly Name[],
): Promise<Record<Name, string>> {
  const notRun = Object.keys(pagesWithCommands[path]?.notRun ?? {});
  const isRun = (text: string) => !notRun.some((start) => text.startsWith(start));
  const blocks = (await readShellBlocks(path)).filter(isRun);
  if (blocks.length !== names.length)
    throw new Error(`${path} has ${blocks.length} shell blocks to run, and the test runs ${names.length}`);
  return Object.fromEntries(names.map((name, index) => [name, blocks[index]])) as Record<Name, string>;
}
