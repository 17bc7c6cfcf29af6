import { languages, type Node } from '@earshot/query';
import type { ItemsQuestion, ItemVerdict } from './judge-items.ts';
import { answerQuestions } from './question-thread.ts';

answerQuestions(judgeItems);

/** Evaluates the first items, as many as there is time for, at least one. */
function judgeItems({ platform, values, payloads, forMs }: ItemsQuestion): ItemVerdict[] {
  const endsAt = performance.now() + forMs;
  const roots = values.map((value) => languages[platform].parse(value).root);
  const judged: ItemVerdict[] = [];
  for (const payload of payloads) {
    const { raw } = JSON.parse(payload);
    judged.push(roots.map((root) => stateOf(platform, root, raw)));
    if (performance.now() > endsAt) break;
  }
  return judged;
}

function stateOf(platform: ItemsQuestion['platform'], root: Node | null, raw: unknown) {
  return root === null ? 'unknown' : languages[platform].evaluate(root, raw).state;
}
