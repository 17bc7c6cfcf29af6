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
}

type Reaction = 'retweeted' | 'quoted' | 'replied_to';

/** The rest are originals. */
const shares: Readonly<Record<Reaction, number>> = { retweeted: 0.2, quoted: 0.1, replied_to: 0.1 };

const originalsMax = 40;
const retweetLengthMax = 140;

/** Writes posts in the control API's format: originals, and reactions to earlier ones. */
export function createPostWriter(random: Random, nextId: () => string) {
  const originals: Original[] = [];

  const writeOriginal = (): JsonObject => {
    const topic = random.pick(allTopics);
    const person = pickAuthor(random, topic);
    const text = writeText(random, topic, person.lang);
    const id = nextId();
    originals.push({ id, text, person });
    if (originals.length > originalsMax) originals.shift();
    const post = { id, text, author: toUser(person), lang: person.lang };
    return random.chance(0.15) ? { ...post, ...photo(id) } : post;
  };

  return (): JsonObject => {
    const kind = pickReaction(random);
    const earlier = originals[random.integer(0, originals.length - 1)];
    return kind === undefined || earlier === undefined
      ? writeOriginal()
      : writeReaction(random, kind, earlier, nextId());
  };
}

function pickReaction(random: Random): Reaction | undefined {
  const place = random.fraction();
  if (place < shares.retweeted) return 'retweeted';
  if (place < shares.retweeted + shares.quoted) return 'quoted';
  return place < shares.retweeted + shares.quoted + shares.replied_to ? 'replied_to' : undefined;
}

export function pickAuthor(random: Random, topic: Topic): Person {
  const [first, ...others] = people.filter(
    ({ lang, topics }) =>
      topic.posts[lang] !== undefined && (topics === 'news' || topics.includes(topic.name)),
  );
  if (first === undefined) throw new Error(`no author writes about ${topic.name}`);
  return random.pick([first, ...others]);
}

export function writeText(random: Random, topic: Topic, lang: string): string {
  const templates = topic.posts[lang] ?? topic.posts['en'];
  const sentence = createFiller(random)(random.pick(templates ?? [topic.name]));
  const tag = random.chance(0.45) ? ` #${random.pick(topic.hashtags)}` : '';
  const link = random.chance(0.3)
    ? ` https://t.example/${random.integer(36 ** 5, 36 ** 6).toString(36)}`
    : '';
  return `${sentence}${tag}${link}`;
}

export const repliesByLang: Record<string, readonly [string, ...string[]]> = {
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
