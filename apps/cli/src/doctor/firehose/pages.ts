import { at, listAt, textAt } from '../json.ts';
import { firstWords } from '../redacted.ts';
import { type Bench, notSeen, type Observation, type Step, seen } from '../step.ts';
import { type Frame, framesOf, hasEnded } from './frames.ts';
import { createTapRule } from './rules.ts';
import { openTap } from './stream.ts';

/** One of them is read a second time. */
const pagesWanted = 19;
const pageUsd = 0.005;
const timeoutSeconds = 300;
const broadRule = 'language:"en" AND page_type:"/Article"';

export const f3: Step = {
  id: 'F3',
  about: `${pagesWanted} English articles, and the first of them once more`,
  calls: 'GET /v1/stream twice, POST and DELETE /v1/rules',
  usdMax: (pagesWanted + 1) * pageUsd,
  makesRules: true,
  opensStream: true,
  async *run(bench) {
    const { id } = await createTapRule(bench, broadRule);
    if (id === null) throw new Error('The rule was not created.');
    const stream = await openTap(bench, `timeout=${timeoutSeconds}&limit=${pagesWanted}`);
    await stream.waitFor(hasEnded, bench.realMs((timeoutSeconds + 20) * 1_000));
    stream.close();
    bench.throwIfStopped();
    const updates = framesOf(stream.text()).filter(({ event }) => event === 'update');
    if (updates.length === 0) throw new Error(`No page came (${stream.status}).`);
    yield* seePages(updates, id);
    yield await seeOffset(bench, updates[0]);
  },
};

const idPattern = /^\d+-(\d+)$/;
const offsetOf = ({ id }: Frame) => Number(idPattern.exec(id ?? '')?.[1] ?? Number.NaN);

function seePages(updates: readonly Frame[], ruleId: string): Observation[] {
  const offsets = updates.map(offsetOf);
  const isIdKnown = offsets.every((offset) => !Number.isNaN(offset));
  const isOrdered = offsets.every((offset, index) => index === 0 || offset > (offsets[index - 1] ?? 0));
  const hasAll = updates.every(({ data }) => listAt(data, 'query_ids').includes(ruleId));
  const hasOne = updates.some(({ data }) => textAt(data, 'query_id') !== undefined);
  const chunks = updates.flatMap(({ data }) => listAt(data, 'document', 'diff', 'chunks'));
  const types = [...new Set(chunks.map((chunk) => textAt(chunk, 'typ') ?? 'none'))].toSorted();
  const hasMarkdown = updates.some(({ data }) => at(data, 'document', 'markdown') !== undefined);
  return [
    seen('F-42', isIdKnown, isIdKnown ? 'as expected' : 'another form'),
    isIdKnown
      ? seen('F-20', isOrdered, isOrdered ? 'by offset' : 'not by offset')
      : notSeen('F-20', 'no offsets'),
    seen('F-40', hasAll, hasAll ? 'query_ids' : hasOne ? 'query_id' : 'neither'),
    types.length === 0
      ? notSeen('F-22', 'no chunk came')
      : seen(
          'F-22',
          types.every((type) => type === 'ins' || type === 'del'),
          firstWords(types.join(', '), 100),
        ),
    seen('F-41', !hasMarkdown, hasMarkdown ? 'markdown' : 'none'),
    seeTimes(updates),
  ];
}

function seeTimes(updates: readonly Frame[]): Observation {
  const times = updates.flatMap(({ data }) => textAt(data, 'document', 'publish_time') ?? []);
  if (times.length === 0) return notSeen('F-45', 'no page had one');
  const isLocal = times.every((time) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$/.test(time));
  return seen('F-45', isLocal, isLocal ? 'without a zone' : 'another form');
}

async function seeOffset(bench: Bench, first: Frame | undefined): Promise<Observation> {
  const offset = first === undefined ? Number.NaN : offsetOf(first);
  if (Number.isNaN(offset)) return notSeen('F-16', 'there was no offset');
  const stream = await openTap(bench, `timeout=5&limit=1&offset=${offset}`);
  await stream.waitFor(hasEnded, bench.realMs(25_000));
  stream.close();
  const again = framesOf(stream.text()).find(({ event }) => event === 'update');
  if (again === undefined) return notSeen('F-16', `nothing came (${stream.status})`);
  return seen('F-16', again.id === first?.id, again.id === first?.id ? 'inclusive' : 'exclusive');
}
