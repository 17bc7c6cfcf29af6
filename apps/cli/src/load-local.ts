import { Failure } from './failure.ts';

/**
 * Loads the part of a command that needs the repository: the server's sources, or programs to start. The built file does not
 * contain this part, so that the file itself works everywhere.
 */
export async function loadLocal<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const place = 'This command works only in the repository of Earshot';
    // Either the file itself is missing, or a package that it imports.
    if ('url' in error && /\/local\/[\w-]+\.ts$/.test(String(error.url)))
      throw new Failure('failed', `${place}. Clone it, and run it there: ./dev earshot …`);
    throw new Failure('failed', `${place}, with its packages installed: ./dev earshot …`, { cause: error });
  }
}
