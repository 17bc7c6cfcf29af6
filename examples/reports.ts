import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

/** What the agent has reported, by the id of the match, in a file. In your program: tickets, messages, rows. */
export function openReports(path: string) {
  const reports = new Map<string, string>(existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : []);
  const save = () => {
    writeFileSync(`${path}.new`, JSON.stringify([...reports], null, 2));
    renameSync(`${path}.new`, path);
  };
  return {
    has: (matchId: string) => reports.has(matchId),
    add(matches: readonly { readonly id: string }[], report: string): void {
      for (const { id } of matches) reports.set(id, report);
      save();
      console.log(report);
    },
    /** The platform requires that copies of a deleted post are deleted. */
    remove(matchId: string): void {
      if (reports.delete(matchId)) save();
    },
  };
}
