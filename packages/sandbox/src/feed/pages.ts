import { toLocalTime } from '../firehose/page.ts';
import type { JsonObject } from '../http/json.ts';
import type { Random } from '../random.ts';
import { allTopics } from './topics.ts';
import { createFiller } from './words.ts';

interface Site {
  readonly domain: string;
  readonly lang: string;
  readonly rating: number;
}

const sites: readonly Site[] = [
  { domain: 'www.northfieldwire.example', lang: 'en', rating: 78 },
  { domain: 'news.portellis.example', lang: 'en', rating: 64 },
  { domain: 'thedailyorbit.example', lang: 'en', rating: 55 },
  { domain: 'blog.gadgetry.example', lang: 'en', rating: 31 },
  { domain: 'www.almstadt-kurier.example', lang: 'de', rating: 61 },
  { domain: 'marena-hoy.example', lang: 'es', rating: 58 },
  { domain: 'www.tribune-valcourt.example', lang: 'fr', rating: 49 },
];

const minuteMs = 60_000;

/** Writes page records for the control API's format: news articles, some of them corrections. */
export function createPageWriter(random: Random) {
  return (nowMs: number): JsonObject => {
    const topic = random.pick(allTopics);
    const [first, ...others] = sites.filter(({ lang }) => topic.headlines[lang] !== undefined);
    if (first === undefined) throw new Error(`no site writes about ${topic.name}`);
    const { domain, lang, rating } = random.pick([first, ...others]);
    const fill = createFiller(random);
    const title = fill(random.pick(topic.headlines[lang] ?? [topic.name]));
    const paragraphs = (topic.paragraphs[lang] ?? [topic.name]).map(fill);
    const added = paragraphs.slice(0, random.integer(1, paragraphs.length));
    const isCorrection = random.chance(0.2);
    return {
      url: `https://${domain}/${topic.name}/${slugOf(title)}-${random.integer(1_000, 9_999_999)}`,
      title,
      publish_time: toLocalTime(nowMs - random.integer(1, 240) * minuteMs),
      language: lang,
      domain_rating: rating,
      page_category: ['/News', topic.category],
      page_types: ['/Article', '/Article/News_Update'],
      chunks: [
        ...(isCorrection
          ? [{ typ: 'del', text: createFiller(random)(random.pick(topic.headlines[lang] ?? ['–'])) }]
          : []),
        ...added.map((text) => ({ typ: 'ins', text })),
      ],
    };
  };
}

function slugOf(title: string): string {
  const ascii = title.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();
  return ascii.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-|-$/g, '');
}
