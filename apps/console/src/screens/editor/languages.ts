import { firehoseLanguage, type Language, xLanguage } from '@earshot/query';
import { type Platform, platforms } from '../../parts/platforms.ts';

/** The rule languages. That of a platform that the server does not have is never used. */
export const languages: Record<Platform, Language> = {
  x: xLanguage,
  firehose: firehoseLanguage,
  bluesky: xLanguage,
};

/** Before the first use. */
export async function loadLanguages(): Promise<void> {
  if (platforms.includes('bluesky'))
    languages.bluesky = (await import('@earshot/query/bluesky')).blueskyLanguage;
}
