import { z } from 'zod';

const ruleSchema = z.looseObject({ id: z.string(), value: z.string(), tag: z.string().optional() });
const stateSchema = z.looseObject({
  rules: z.array(ruleSchema),
  connections: z.looseObject({ open: z.number() }),
});
const callsSchema = z.looseObject({ rule_calls: z.object({ made: z.number(), refused: z.number() }) });
const faultsSchema = z.object({ faults: z.array(z.looseObject({ fired: z.number() })) });
const postsSchema = z.object({ posts: z.array(z.looseObject({ id: z.string(), delivered: z.boolean() })) });
const pagesSchema = z.object({
  pages: z.array(z.looseObject({ events: z.array(z.looseObject({ event_id: z.string() })) })),
});

export type SandboxControl = ReturnType<typeof createSandboxControl>;

/** The part of the sandbox's control interface that these tests need. */
export function createSandboxControl(url: string) {
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await fetch(new URL(path, url), {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return await answer.json();
  };
  return {
    xRules: async () => stateSchema.parse(await ask('GET', '/sandbox/x/state')).rules,
    xStreams: async () => stateSchema.parse(await ask('GET', '/sandbox/x/state')).connections.open,
    tapRules: async () => stateSchema.parse(await ask('GET', '/sandbox/firehose/state')).rules,
    tapCalls: async () => callsSchema.parse(await ask('GET', '/sandbox/firehose/state')).rule_calls,
    tapStreams: async () => stateSchema.parse(await ask('GET', '/sandbox/firehose/state')).connections.open,
    arm: async (fault: Record<string, unknown>) => void (await ask('POST', '/sandbox/faults', fault)),
    /** How often each armed fault fired, in the order of arming. */
    fired: async () =>
      faultsSchema.parse(await ask('GET', '/sandbox/faults')).faults.map(({ fired }) => fired),
    clearFaults: async () => void (await ask('DELETE', '/sandbox/faults')),
    posts: async (texts: readonly string[]) =>
      postsSchema.parse(await ask('POST', '/sandbox/x/posts', { posts: texts.map((text) => ({ text })) }))
        .posts,
    /** Sends separate pages with these titles; returns the ids of the resulting events. */
    pages: async (titles: readonly string[]) =>
      pagesSchema
        .parse(
          await ask('POST', '/sandbox/firehose/pages', {
            pages: titles.map((title) => ({
              url: `https://news.example/${encodeURIComponent(title)}`,
              title,
              chunks: [{ typ: 'ins', text: title }],
            })),
          }),
        )
        .pages.flatMap(({ events }) => events.map((event) => event.event_id)),
  };
}
