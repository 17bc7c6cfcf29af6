import { Failure } from '../../failure.ts';
import type { OwnBench } from '../bench.ts';
import { countOwners, type DoctorPlatform, type Survey } from '../platform.ts';
import { doctorTagPrefix } from '../step.ts';
import { f1 } from './changes.ts';
import { f0 } from './language.ts';
import { f3 } from './pages.ts';
import { deleteTapRule, listTapRules } from './rules.ts';
import { f2 } from './stream.ts';

const roundsMax = 3;

export const doctorOfFirehose: DoctorPlatform = {
  name: 'Firehose',
  owner: 'This Firehose token',
  steps: [f0, f1, f2, f3],
  survey,
  undo,
};

async function survey(bench: OwnBench): Promise<Survey> {
  const { answer, rules } = await listTapRules(bench);
  if (answer.status !== 200)
    throw new Failure('refused', `Firehose does not let this token list rules: ${answer.status}`);
  const tags = rules.map(({ tag }) => tag);
  return { ...countOwners(tags, doctorTagPrefix), openStreams: 0 };
}

async function undo(bench: OwnBench): Promise<number> {
  let left = 0;
  for (let round = 0; round < roundsMax; round += 1) {
    const { answer, rules } = await listTapRules(bench);
    const tagged = rules.filter(({ tag }) => tag?.startsWith(doctorTagPrefix)).map(({ id }) => id);
    const ids = new Set([...tagged, ...bench.made]);
    left = answer.status === 200 ? tagged.length : ids.size;
    if (ids.size === 0) return 0;
    for (const id of ids) {
      const { status } = await deleteTapRule(bench, id);
      if (status === 204 || status === 200 || status === 404) bench.made.delete(id);
    }
  }
  return left;
}
