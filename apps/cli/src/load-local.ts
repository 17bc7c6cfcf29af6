import { Failure } from './failure.ts';

/**
 * The part of a command that needs the rest of the repository: engines to start, the server's sources, its database. The
 * built file leaves it where it is and loads it from there, so that the file itself works everywhere.
 */
export async function loadLocal<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Failure(
      'failed',
      'This command works only in the repository of Earshot, with its packages installed: ./dev earshot …',
      { cause: error },
    );
  }
}
