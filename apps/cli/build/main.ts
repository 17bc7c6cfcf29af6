import { buildCli, builtFile } from './build-cli.ts';

await buildCli(builtFile);
