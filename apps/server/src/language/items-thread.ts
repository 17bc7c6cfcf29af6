import { constants, platform, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { languages, type Node } from '@earshot/query';
import type { ItemsQuestion, ItemVerdict } from './judge-items.ts';

// As in examples-thread.ts: requests and streams come first. Not last of all: somebody waits, for a bounded time.
if (platform() === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

parentPort?.on('message', (question: ItemsQuestion) => parentPort?.postMessage(judgeItems(question)));
parentPort?.postMessage('ready');

/** Of the first items, as many as the time allows, one at least. */
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
