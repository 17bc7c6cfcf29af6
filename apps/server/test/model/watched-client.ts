import { z } from 'zod';
import type { UpstreamClient } from '../../src/upstream/client.ts';

/** What a registrar must never do, whatever the consequences. */
export type Misdeed =
  /** A change although the outcome of the previous one is unknown. */
  | 'changed_while_uncertain'
  /** A rule that its own list shows. */
  | 'added_again'
  /** A change after another node took its lease. */
  | 'changed_without_lease';

export interface WatchedClient extends UpstreamClient {
  /** From now on nothing may be changed. */
  retire(): void;
}

const list = z.looseObject({
  data: z.array(z.looseObject({ id: z.string(), tag: z.string().nullish() })).default([]),
});
const added = z.union([
  z.looseObject({ add: z.array(z.looseObject({ tag: z.string() })) }).transform(({ add }) => add),
  z.looseObject({ tag: z.string() }).transform((one) => [one]),
]);
const removed = z
  .looseObject({ delete: z.looseObject({ ids: z.array(z.string()) }) })
  .transform((body) => body.delete.ids);

/** One registrar's view of its upstream, which records the order of its calls. */
export function watchCalls(client: UpstreamClient, report: (misdeed: Misdeed) => void): WatchedClient {
  let isUncertain = false;
  let retired = false;
  let tagOf = new Map<string, string>();
  const judge = (body: unknown) => {
    if (isUncertain) report('changed_while_uncertain');
    if (retired) report('changed_without_lease');
    const tags = new Set(tagOf.values());
    const parsed = added.safeParse(body);
    if (parsed.success && parsed.data.some(({ tag }) => tags.has(tag))) report('added_again');
  };
  return {
    ...client,
    retire() {
      retired = true;
    },
    async call(method, path, init) {
      if (path.includes('/validate') || path.includes('/counts'))
        return await client.call(method, path, init);
      if (method === 'GET') {
        const answer = await client.call(method, path, init);
        const listed = list.safeParse(answer.body);
        if (answer.status !== 200 || !listed.success) return answer;
        tagOf = new Map(listed.data.data.flatMap(({ id, tag }) => (tag ? [[id, tag] as const] : [])));
        isUncertain = false;
        return answer;
      }
      judge(init.body);
      isUncertain = true;
      const answer = await client.call(method, path, init);
      isUncertain = answer.status === 429 || answer.status >= 500;
      if (isUncertain) return answer;
      const gone = removed.safeParse(init.body);
      const ids = gone.success ? gone.data : method === 'DELETE' ? [path.split('/').at(-1) ?? ''] : [];
      for (const id of ids) tagOf.delete(id);
      return answer;
    },
  };
}
