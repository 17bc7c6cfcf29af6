import { type MuteField, type Platform, platformDescriptions } from '@earshot/contract';
import type { Sql } from '../engines/database.ts';

/** The platforms that each of the rules is on now. */
export async function platformsOf(
  sql: Pick<Sql, 'many'>,
  ruleIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Platform[]>> {
  const rows = await sql.many<{ id: string; platforms: Platform[] }>(
    `select rules.id, array_agg(platform) as platforms from rules
     join rule_versions on rule_id = rules.id and rule_versions.version = rules.version
     where rules.id = any($1) group by rules.id`,
    [ruleIds],
  );
  return new Map(rows.map(({ id, platforms }) => [id, platforms]));
}

/** What excludes the same items in the queries of these platforms, where the platform can. */
export function exclusionsOf(
  platforms: readonly Platform[],
  field: MuteField,
  value: string,
): Partial<Record<Platform, string>> {
  const quoted = value.replaceAll('"', ' ').trim();
  return Object.fromEntries(
    platforms.flatMap((platform) => {
      const exclude = platformDescriptions[platform].exclusions[field];
      return exclude === null ? [] : [[platform, exclude(quoted)]];
    }),
  );
}
