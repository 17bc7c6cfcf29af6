export type TapMeter = ReturnType<typeof createTapMeter>;

/** Bounds the memory of a sandbox that runs for long. */
const daysMax = 90;

/** What a tap has delivered, and which pages of it are charged: each once, also when it is replayed or changes its id. */
export function createTapMeter() {
  const charged = new Set<string>();
  const pagesByDate = new Map<string, number>();
  let delivered = 0;
  return {
    /** Whether this delivery of the page is charged. */
    deliver(atMs: number, chargeKey: string): boolean {
      delivered += 1;
      if (charged.has(chargeKey)) return false;
      charged.add(chargeKey);
      const date = new Date(atMs).toISOString().slice(0, 10);
      pagesByDate.set(date, (pagesByDate.get(date) ?? 0) + 1);
      const [oldest] = pagesByDate.keys();
      if (pagesByDate.size > daysMax && oldest !== undefined) pagesByDate.delete(oldest);
      return true;
    },
    eventsDelivered: () => delivered,
    pagesCharged: () => charged.size,
    /** Pages charged on each of the last 90 UTC days that had any, oldest first. */
    days: () => Array.from(pagesByDate, ([date, pages]) => ({ date, pages })),
  };
}
