import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository } from './demo-process.ts';

export interface Block {
  readonly language: string;
  /** What stands behind the language: the name of a file. */
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
