import { once } from 'node:events';
import { constants, platform, setPriority } from 'node:os';
import { parentPort, Worker } from 'node:worker_threads';

/** Sends a question to the thread. Null if the answer takes too long or the thread ends, for instance because it runs out of memory. */
export type QuestionThread<Question, Answer> = (
  question: Question,
  deadlineMs: number,
) => Promise<Answer | null>;

/**
 * A thread that answers questions of callers, one at a time, each with a deadline and all within a memory limit. It starts with the
 * first question, and again after a question that it did not answer. Its module calls `answerQuestions`.
 */
export function createQuestionThread<Question, Answer>(
  module: URL,
  memoryMaxMb: number,
): QuestionThread<Question, Answer> {
  let thread: Promise<Worker> | null = null;
  const start = async (): Promise<Worker> => {
    const worker = new Worker(module, { resourceLimits: { maxOldGenerationSizeMb: memoryMaxMb } });
    worker.unref();
    worker.on('error', () => {
      thread = null;
    });
    // The thread sends a message when it has loaded the languages: the deadline is for the question alone.
    await once(worker, 'message');
    return worker;
  };
  /** The next question tries again. */
  const forget = (error: unknown): never => {
    thread = null;
    throw error;
  };
  return async (question, deadlineMs) => {
    const worker = await (thread ??= start().catch(forget));
    const signal = AbortSignal.timeout(Math.ceil(deadlineMs));
    worker.postMessage(question);
    try {
      const [answer] = await once(worker, 'message', { signal });
      return answer;
    } catch {
      thread = null;
      await worker.terminate();
      return null;
    }
  };
}

/** Runs in the thread: reports that it is ready, and then answers each message with one. */
export function answerQuestions(answer: (question: never) => unknown): void {
  // On Linux this is the priority of this thread: requests and streams come first, however much there is to evaluate. On other systems
  // it would be that of the whole process. Not the lowest priority: beside a dozen busy processes that is a hundredth of a core, and
  // the simplest question would exceed its deadline.
  if (platform() === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  parentPort?.on('message', (question: unknown) => parentPort?.postMessage(answer(question as never)));
  parentPort?.postMessage('ready');
}
