import { readFile } from 'node:fs/promises';
import { usageFailure } from '../failure.ts';

interface TokenSources {
  /** A file with the token alone; wins. */
  readonly file: string | undefined;
  /** `name=token,name=token`, as the server has it; the first is taken. */
  readonly setting: string | undefined;
}

/** A token never stands on the command line, where others on the machine could see it. */
export async function readToken({ file, setting }: TokenSources): Promise<string | null> {
  if (file !== undefined) {
    const token = (await readFile(file, 'utf8')).trim();
    if (!/^\S+$/.test(token)) throw usageFailure(`${file} does not hold one token.`);
    return token;
  }
  const [first = ''] = (setting ?? '').split(',');
  const token = first.slice(first.indexOf('=') + 1).trim();
  return token === '' ? null : token;
}
