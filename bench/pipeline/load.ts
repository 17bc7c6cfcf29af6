/** Sends posts and pages to the sandbox, half of each. One rule matches each of them. */

export interface Load {
  readonly sandboxUrl: string;
  /** Rules per platform; item n is for rule n modulo this. */
  readonly rules: number;
}

const batch = 50;
const callers = 2;

export const xRule = (n: number) => `pipeline${n} lang:en`;
export const firehoseRule = (n: number) => `title:pipeline${n} AND language:"en"`;

/** Sends items as fast as the sandbox accepts them. */
export async function injectAll(load: Load, items: number): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (let n = next; n < items; n = next) {
        next += batch;
        await inject(load, n, Math.min(batch, items - n));
      }
    }),
  );
}

interface RatedLoad {
  readonly perSecond: number;
  readonly seconds: number;
  /** The number of the first item. */
  readonly first: number;
}

/** Sends items at a fixed rate for a time; at most one batch late if the sandbox keeps up. */
export async function injectAtRate(load: Load, { perSecond, seconds, first }: RatedLoad): Promise<number> {
  const items = Math.round(perSecond * seconds);
  const size = Math.max(2, Math.min(batch, Math.round(perSecond / 20)));
  const startedAt = performance.now();
  const open = new Set<Promise<void>>();
  for (let n = 0; n < items; n += size) {
    const dueMs = startedAt + (n / perSecond) * 1_000;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())));
    if (open.size >= callers) await Promise.race(open);
    const count = Math.min(size, items - n);
    const injecting: Promise<void> = inject(load, first + n, count).finally(() => open.delete(injecting));
    open.add(injecting);
  }
  await Promise.all(open);
  return items;
}

async function inject(load: Load, first: number, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, index) => first + index);
  await Promise.all([
    put(load, '/sandbox/x/posts', { posts: numbers.filter((n) => n % 2 === 0).map((n) => post(n, load)) }),
    put(load, '/sandbox/firehose/pages', {
      pages: numbers.filter((n) => n % 2 === 1).map((n) => page(n, load)),
    }),
  ]);
}

const sentence = 'The turbine hall was quiet when the first engineers arrived before dawn to look at it. ';

function post(n: number, { rules }: Load) {
  const text = `pipeline${n % rules} post ${n} at ${Date.now()} ${sentence.repeat(2)}`;
  return { text, lang: 'en', author: { username: `person${n % 100}`, name: 'A person' } };
}

function page(n: number, { rules }: Load) {
  return {
    url: `https://news.example/${n}`,
    title: `pipeline${n % rules} page ${n}`,
    language: 'en',
    chunks: [{ typ: 'ins', text: `at ${Date.now()} ${sentence.repeat(6)}` }],
  };
}

async function put({ sandboxUrl }: Load, path: string, body: Record<string, readonly unknown[]>) {
  if (Object.values(body).every((items) => items.length === 0)) return;
  const answer = await fetch(new URL(path, sandboxUrl), { method: 'POST', body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`the sandbox answered ${answer.status}: ${text}`);
}
