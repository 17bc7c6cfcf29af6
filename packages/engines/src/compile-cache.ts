import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/**
 * For the environment of our own programs: they load from, and add to, the compile cache of the process that starts them.
 * Empty when that has none. Loading the server takes half as long with it.
 */
export function compileCache(): { NODE_COMPILE_CACHE?: string } {
  const dir = getCompileCacheDir();
  // Node creates a folder per version in the configured folder.
  return dir === undefined ? {} : { NODE_COMPILE_CACHE: dirname(dir) };
}
