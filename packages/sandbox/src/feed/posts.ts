import type { JsonObject } from '../http/json.ts';
import type { Random } from '../random.ts';
import { userIdOf } from '../x/entities.ts';
import { type Person, people } from './people.ts';
import { allTopics, type Topic } from './topics.ts';
import { createFiller } from './words.ts';

/** A post that later ones can reply to, retweet or quote. */
interface Original {
  readonly id: string;
  readonly text: string;
  readonly person: Person;
  readonly topic: Topic;
}

/** How much of a feed reacts to earlier posts; the rest are originals. */
export interface Shares {
  readonly retweets: number;
  readonly quotes: number;
  readonly replies: number;
}

type Reaction = 'retweeted' | 'quoted' | 'replied_to';

export const usualShares: Shares = { retweets: 0.2, quotes: 0.1, replies: 0.1 };

const originalsMax = 40;
const retweetLengthMax = 140;

/** Writes posts in the control API's format: originals, and reactions to earlier ones, about a topic if one is given. */
export function createPostWriter(random: Random, nextId: () => string) {
  const originals: Original[] = [];

  const writeOriginal = (topic: Topic): JsonObject => {
    const person = pickAuthor(random, topic);
    const text = writeText(random, topic, person.lang);
    const id = nextId();
    originals.push({ id, text, person, topic });
    if (originals.length > originalsMax) originals.shift();
    const post = { id, text, author: toUser(person), lang: person.lang };
    return random.chance(0.15) ? { ...post, ...photo(id) } : post;
  };

  return ({
    topic,
    shares = usualShares,
  }: {
    topic?: Topic | undefined;
    shares?: Shares;
  } = {}): JsonObject => {
    const kind = pickReaction(random, shares);
    const known = topic === undefined ? originals : originals.filter((original) => original.topic === topic);
    const earlier = known[random.integer(0, known.length - 1)];
    return kind === undefined || earlier === undefined
      ? writeOriginal(topic ?? random.pick(allTopics))
      : writeReaction(random, kind, earlier, nextId());
  };
}

function pickReaction(random: Random, { retweets, quotes, replies }: Shares): Reaction | undefined {
  const place = random.fraction();
  if (place < retweets) return 'retweeted';
  if (place < retweets + quotes) return 'quoted';
  return place < retweets + quotes + replies ? 'replied_to' : undefined;
}

function pickAuthor(random: Random, topic: Topic): Person {
  const [first, ...others] = people.filter(
    ({ lang, topics }) =>
      topic.posts[lang] !== undefined && (topics === 'news' || topics.includes(topic.name)),
  );
  if (first === undefined) throw new Error(`nobody writes about ${topic.name}`);
  return random.pick([first, ...others]);
}

function writeText(random: Random, topic: Topic, lang: string): string {
  const templates = topic.posts[lang] ?? topic.posts['en'];
  const sentence = createFiller(random)(random.pick(templates ?? [topic.name]));
  const tag = random.chance(0.45) ? ` #${random.pick(topic.hashtags)}` : '';
  const link = random.chance(0.3)
    ? ` https://t.example/${random.integer(36 ** 5, 36 ** 6).toString(36)}`
    : '';
  return `${sentence}${tag}${link}`;
}

const repliesByLang: Record<string, readonly [string, ...string[]]> = {
  en: [
    'Same here, since this morning.',
    'Source?',
    'This is huge.',
    'Called it last week 😅',
    'Thanks for the update!',
  ],
  de: ['Hier genauso.', 'Gibt es dafür eine Quelle?', 'Stark, danke!'],
  es: ['Aquí igual.', '¿Hay confirmación?', 'Qué locura.'],
  fr: ['Pareil ici.', 'Une source ?'],
  pt: ['Aqui também.', 'Sensacional!'],
  ja: ['すごい！', '情報ありがとうございます。'],
};

function writeReaction(random: Random, kind: Reaction, earlier: Original, id: string): JsonObject {
  const { lang } = earlier.person;
  const speakers = people.filter((person) => person.lang === lang && person !== earlier.person);
  const author = random.pick([speakers[0] ?? earlier.person, ...speakers.slice(1)]);
  const comment = random.pick(repliesByLang[lang] ?? ['👀']);
  const name = `@${earlier.person.username}`;
  const texts: Record<Reaction, string> = {
    retweeted: truncate(`RT ${name}: ${earlier.text}`),
    replied_to: `${name} ${comment}`,
    quoted: `${comment} https://x.example/${earlier.person.username}/status/${earlier.id}`,
  };
  const original = { id: earlier.id, text: earlier.text, author_id: userIdOf(earlier.person.username), lang };
  return {
    id,
    text: texts[kind],
    author: toUser(author),
    lang,
    referenced_tweets: [{ type: kind, id: earlier.id }],
    ...(kind === 'replied_to' && { in_reply_to_user_id: original.author_id, conversation_id: earlier.id }),
    includes: { tweets: [original], users: [toUser(earlier.person)] },
  };
}

function truncate(text: string): string {
  const characters = Array.from(text);
  return characters.length > retweetLengthMax
    ? `${characters.slice(0, retweetLengthMax - 1).join('')}…`
    : text;
}

function photo(id: string): JsonObject {
  const mediaKey = `3_${id}`;
  return {
    attachments: { media_keys: [mediaKey] },
    includes: { media: [{ media_key: mediaKey, type: 'photo', url: `https://img.example/${id}.jpg` }] },
  };
}

function toUser({ username, name, description, verified }: Person): JsonObject {
  return { id: userIdOf(username), username, name, description, verified };
}
