const rulesPerCall = 100;

/**
 * Measures the seconds that the upstream alone needs for the rules: full calls, sequential on each app, all apps in
 * parallel. Then removes the rules.
 */
export async function bareUpstreamSeconds(
  baseUrl: string,
  tokens: readonly string[],
  rules: number,
): Promise<number> {
  const call = async (token: string, body: object) => {
    const answer = await fetch(new URL('/2/tweets/search/stream/rules', baseUrl), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${answer.status}: ${text}`);
    return (JSON.parse(text) as { data?: Array<{ id: string }> }).data ?? [];
  };
  const perApp = Math.ceil(rules / tokens.length);
  const startedAt = performance.now();
  const made = await Promise.all(
    tokens.map(async (token) => {
      const ids: string[] = [];
      for (let at = 0; at < perApp; at += rulesPerCall) {
        const count = Math.min(rulesPerCall, perApp - at);
        const add = Array.from({ length: count }, (_, n) => ({ value: `bare${at + n}`, tag: 'bare' }));
        for (const { id } of await call(token, { add })) ids.push(id);
      }
      return ids;
    }),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  for (const [index, ids] of made.entries()) {
    for (let at = 0; at < ids.length; at += rulesPerCall)
      await call(tokens[index] ?? '', { delete: { ids: ids.slice(at, at + rulesPerCall) } });
  }
  return seconds;
}
