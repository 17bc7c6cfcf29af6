import { readFile } from 'node:fs/promises';
import { usageFailure } from '../failure.ts';

interface TokenSources {
  /** A file with only the token. It takes precedence. */
  readonly file: string | undefined;
  /** `name=token,name=token`, as in the setting of the server. The first token is used. */
  readonly setting: string | undefined;
}

/** Reads a token. There is no option for the token itself, because other users of the machine can see the command line. */
export async function readToken({ file, setting }: TokenSources): Promise<string | null> {
  if (file !== undefined) {
    const token = (await readFile(file, 'utf8')).trim();
    if (!/^\S+$/.test(token)) throw usageFailure(`${file} does not contain exactly one token.`);
    return token;
  }
  const [first = ''] = (setting ?? '').split(',');
  const token = first.slice(first.indexOf('=') + 1).trim();
  return token === '' ? null : token;
}
