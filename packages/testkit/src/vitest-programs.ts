import { loadServerProgram } from '@earshot/engines';

/** Runs once before the tests that start the server as a process, and adds it to the compile cache. */
export const setup = loadServerProgram;
