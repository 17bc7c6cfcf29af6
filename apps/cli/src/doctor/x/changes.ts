import type { Answer } from '../http.ts';
import { listAt, numberAt, textAt } from '../json.ts';
import { type Bench, notSeen, type Observation, type Step, seen } from '../step.ts';
import { addedRules, addRules, deleteRules, listRules, problemWords } from './rules.ts';

export const x3: Step = {
  id: 'X3',
  about: 'adding, listing and deleting rules that match nothing',
  calls: 'POST rules six times, GET rules twice',
  usdMax: 0,
  makesRules: true,
  async *run(bench) {
    // X may normalise two spaces to one.
    const rule = { value: `${bench.word}  lang:en`, tag: bench.nextTag() };
    const added = await addRules(bench, [rule]);
    const id = addedRules(added)[0]?.id;
    if (id === undefined) {
      yield seen('X-44', false, `adding: ${problemWords(added)}`);
      return;
    }
    yield await seeListed(bench, id);
    yield await seeVerbatim(bench, added, rule.value);
    yield await seeDuplicate(bench, rule.value, id);
    yield await seeMixedBatch(bench);
    bench.throwIfStopped();
    const deleted = await deleteRules(bench, [id]);
    const statuses = `${added.status} for adding, ${deleted.status} for deleting`;
    yield seen('X-44', added.status === 201 && deleted.status === 200, statuses);
    yield await seeMiss(bench, id);
  },
};

async function seeListed(bench: Bench, id: string): Promise<Observation> {
  const listed = await listRules(bench);
  if ('refused' in listed) return seen('X-51', false, problemWords(listed.refused));
  const isThere = listed.rules.some((rule) => rule.id === id);
  return seen('X-51', isThere, isThere ? 'listed at once' : 'not listed yet');
}

async function seeVerbatim(bench: Bench, added: Answer, value: string): Promise<Observation> {
  const isEchoed = addedRules(added)[0]?.value === value;
  const other = await addRules(bench, [{ value: value.replace('  ', ' '), tag: bench.nextTag() }]);
  const isDistinct = addedRules(other).length === 1;
  const words = [
    isEchoed ? 'echoed as it was sent' : 'echoed in other words',
    isDistinct ? 'spaces make another rule' : 'spaces make no other rule',
  ];
  return seen('X-6', isEchoed && isDistinct, words.join(', '));
}

async function seeDuplicate(bench: Bench, value: string, id: string): Promise<Observation> {
  const answer = await addRules(bench, [{ value, tag: bench.nextTag() }]);
  const error = listAt(answer.body, 'errors')[0];
  const isNamed = textAt(error, 'type')?.endsWith('/duplicate-rules') === true;
  const itsId = textAt(error, 'id');
  const idWords = itsId === undefined ? 'without id' : itsId === id ? 'with its id' : 'with another id';
  return seen('X-43', isNamed && itsId === id, `${problemWords(answer)}, ${idWords}`);
}

async function seeMixedBatch(bench: Bench): Promise<Observation> {
  const valid = { value: `${bench.word} lang:de`, tag: bench.nextTag() };
  await addRules(bench, [valid, { value: `-${bench.word}`, tag: bench.nextTag() }]);
  const listed = await listRules(bench);
  if ('refused' in listed) return notSeen('X-1', problemWords(listed.refused));
  const isCreated = listed.rules.some(({ tag }) => tag === valid.tag);
  return seen('X-1', isCreated, isCreated ? 'the valid one is created' : 'none is created');
}

async function seeMiss(bench: Bench, id: string): Promise<Observation> {
  bench.throwIfStopped();
  const again = await deleteRules(bench, [id]);
  const missed = numberAt(again.body, 'meta', 'summary', 'not_deleted');
  const words = missed === undefined ? problemWords(again) : `${again.status}, not_deleted ${missed}`;
  return seen('X-52', again.status === 200 && missed === 1, words);
}
