import { constants, platform, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { judgeExamples } from '@earshot/query';
import type { ExamplesQuestion } from './judge-examples.ts';

// On Linux this is the thread's own priority: requests and streams come first, however many examples there are to judge.
// Elsewhere it would be that of the whole process.
if (platform() === 'linux') setPriority(constants.priority.PRIORITY_LOW);

parentPort?.on('message', ({ overrides, examples, invalid }: ExamplesQuestion) => {
  parentPort?.postMessage(judgeExamples(overrides, examples, invalid));
});

parentPort?.postMessage('ready');
