import { Failure } from '../../failure.ts';
import type { OwnBench } from '../bench.ts';
import { listAt } from '../json.ts';
import { countOwners, type DoctorPlatform, type Survey } from '../platform.ts';
import { doctorTagPrefix } from '../step.ts';
import { x0, x1 } from './access.ts';
import { x3 } from './changes.ts';
import { x2 } from './language.ts';
import { x5 } from './posts.ts';
import { deleteRules, listRules, problemWords } from './rules.ts';
import { x6 } from './search.ts';
import { connectionsPath, x4 } from './stream.ts';

const roundsMax = 3;

export const doctorOfX: DoctorPlatform = {
  name: 'X',
  owner: 'This X app',
  steps: [x0, x1, x2, x3, x4, x5, x6],
  survey,
  undo,
};

async function survey(bench: OwnBench): Promise<Survey> {
  const listed = await listRules(bench);
  if ('refused' in listed)
    throw new Failure('refused', `X does not let this token list rules: ${problemWords(listed.refused)}`);
  const connections = await bench.http.call('GET', connectionsPath);
  const openStreams = listAt(connections.body, 'data').length;
  const tags = listed.rules.map(({ tag }) => tag);
  return { ...countOwners(tags, doctorTagPrefix), openStreams };
}

async function undo(bench: OwnBench): Promise<number> {
  let left: string[] = [];
  for (let round = 0; round < roundsMax; round += 1) {
    const listed = await listRules(bench);
    const rules = 'rules' in listed ? listed.rules : [];
    const tagged = rules.filter(({ tag }) => tag?.startsWith(doctorTagPrefix)).map(({ id }) => id);
    left = 'rules' in listed ? tagged : [...bench.made];
    // Includes rules that X does not list yet.
    const ids = [...new Set([...tagged, ...bench.made])];
    if (ids.length === 0) return 0;
    const answer = await deleteRules(bench, ids);
    if (answer.status === 200) bench.made.clear();
  }
  return left.length;
}
