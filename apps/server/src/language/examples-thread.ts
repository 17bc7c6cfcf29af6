import { judgeExamples } from '@earshot/query';
import type { ExamplesQuestion } from './judge-examples.ts';
import { answerQuestions } from './question-thread.ts';

answerQuestions(({ overrides, examples, invalid }: ExamplesQuestion) =>
  judgeExamples(overrides, examples, invalid),
);
