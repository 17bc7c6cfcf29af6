import { parentPort } from 'node:worker_threads';
import { judgeExamples } from '@earshot/query';
import type { ExamplesQuestion } from './judge-examples.ts';

parentPort?.on('message', ({ overrides, examples, invalid }: ExamplesQuestion) => {
  parentPort?.postMessage(judgeExamples(overrides, examples, invalid));
});

parentPort?.postMessage('ready');
