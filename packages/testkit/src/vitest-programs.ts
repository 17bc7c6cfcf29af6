import { loadServerProgram } from '@earshot/engines';

/** Runs once before the tests that start the server as a process: from then on the compile cache has it. */
export const setup = loadServerProgram;
