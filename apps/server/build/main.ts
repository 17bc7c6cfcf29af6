import { buildServer, builtDir } from './build-server.ts';

await buildServer(builtDir);
