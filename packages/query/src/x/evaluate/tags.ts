import type { LeafNode } from '../../ast.ts';
import { spend } from '../../budget.ts';
import type { LeafVerdict } from '../../language.ts';
import { foldForMatch } from '../characters.ts';
import { entities, field, isJson, list, type Post, shownJson, textOf, type XDocument } from '../document.ts';
import { contentMiss, hit, type LeafEvaluator, miss, termOf, unknown } from './verdict.ts';

const sigils: Readonly<Record<string, string>> = { hashtags: '#', cashtags: '$', mentions: '@' };

/** `#tag`, `$SYM` and `@user` are entities of the post, not words of its text. */
export const hashtag = tagEvaluator('hashtags', ['tag']);
export const cashtag = tagEvaluator('cashtags', ['tag']);
export const mention = besidesRetweet(tagEvaluator('mentions', ['username', 'id']));

function tagEvaluator(kind: string, names: readonly string[]): LeafEvaluator {
  return (leaf, document) => {
    const wanted = foldForMatch(termOf(leaf));
    for (const post of document.content) {
      for (const { path, data } of entities(post, kind)) {
        const name = names.find((candidate) => folded(textOf(data[candidate]) ?? '') === wanted);
        if (name !== undefined)
          return hit(leaf, 'exact', { path: `${path}.${name}`, value: textOf(data[name]) ?? '' });
      }
      const inText = hasEntities(post) ? null : findInText(leaf, post, `${sigils[kind] ?? ''}${wanted}`);
      if (inText !== null) return inText;
    }
    return contentMiss(leaf, document, certainty(document, kind), 'the post does not carry it');
  };
}

const stepsPerFolded = 3;

function folded(text: string): string {
  spend(10 + stepsPerFolded * text.length);
  return foldForMatch(text);
}

export const hasHashtags = hasEvaluator('hashtags');
export const hasCashtags = hasEvaluator('cashtags');
export const hasMentions = besidesRetweet(hasEvaluator('mentions'));

function hasEvaluator(kind: string): LeafEvaluator {
  return (leaf, document) => {
    for (const post of document.content) {
      const [first] = entities(post, kind);
      if (first !== undefined) return hit(leaf, 'exact', { path: first.path, value: shownJson(first.data) });
    }
    if (certainty(document, kind) === 'approximate')
      return unknown('the post was delivered without its entities');
    return contentMiss(leaf, document, 'exact', `the post has no ${kind}`);
  };
}

/**
 * The entities of a retweet have the mention of its "RT @…". Whether X counts that is not documented, so a mention that only
 * the retweet itself has decides nothing.
 */
function besidesRetweet(evaluator: LeafEvaluator): LeafEvaluator {
  return (leaf, document) => {
    const { own, retweeted } = document;
    if (retweeted === null) return evaluator(leaf, document);
    const others = document.content.filter((post) => post !== own);
    const decided = evaluator(leaf, { ...document, content: others });
    if (decided.state === 'match') return decided;
    const { state, evidence } = evaluator(leaf, { ...document, content: [own] });
    if (state !== 'match') return decided;
    return { ...unknown('X does not say whether the mention of a retweet counts'), evidence };
  };
}

/** X omits empty fields, so missing entities decide only when the text does not contain the sigil. */
function certainty(document: XDocument, kind: string): 'exact' | 'approximate' {
  const sure = document.content.every((post) => {
    spend(ownText(post).length >> 4);
    return hasEntities(post) || !ownText(post).includes(sigils[kind] ?? '');
  });
  return sure ? 'exact' : 'approximate';
}

function hasEntities(post: Post): boolean {
  return isJson(post.data['entities']);
}

function ownText(post: Post): string {
  return textOf(post.data['text']) ?? '';
}

function findInText(leaf: LeafNode, post: Post, tag: string): LeafVerdict | null {
  const text = ownText(post);
  const lower = folded(text);
  if (lower.length !== text.length) return null;
  for (let at = lower.indexOf(tag); at >= 0; at = lower.indexOf(tag, at + 1)) {
    const end = at + tag.length;
    spend(10);
    if (/^[\p{L}\p{M}\p{N}_]/u.test(lower.slice(end, end + 2))) continue;
    return hit(leaf, 'approximate', {
      path: `${post.path}.text`,
      range: [at, end],
      value: text.slice(at, end),
    });
  }
  return null;
}

export const hasLinks: LeafEvaluator = (leaf, document) => {
  for (const post of document.content) {
    const [first] = entities(post, 'urls');
    if (first !== undefined)
      return hit(leaf, 'exact', { path: first.path, value: textOf(first.data['url']) ?? '' });
  }
  return contentMiss(leaf, document, 'approximate', 'the post has no links');
};

interface MediaKey {
  readonly path: string;
  readonly key: string;
}

function mediaKeys(post: Post): MediaKey[] {
  const attached = list(field(post.data['attachments'], 'media_keys')).flatMap((key, index) =>
    typeof key === 'string' ? [{ path: `${post.path}.attachments.media_keys[${index}]`, key }] : [],
  );
  const linked = entities(post, 'urls').flatMap(({ path, data }) => {
    const key = textOf(data['media_key']);
    return key === undefined ? [] : [{ path: `${path}.media_key`, key }];
  });
  return [...attached, ...linked];
}

export const hasMedia: LeafEvaluator = (leaf, document) => {
  const [first] = document.content.flatMap(mediaKeys);
  if (first !== undefined) return hit(leaf, 'exact', { path: first.path, value: first.key });
  return contentMiss(leaf, document, 'exact', 'the post has no media');
};

export const hasImages = mediaTypeEvaluator('photo');
export const hasVideo = mediaTypeEvaluator('video');

/** Whether a GIF counts as image or video is not documented. */
function mediaTypeEvaluator(type: string): LeafEvaluator {
  return (leaf, document) => {
    const keys = document.content.flatMap(mediaKeys);
    const types = keys.map(({ key }) => textOf(document.media(key)?.['type']));
    const found = keys[types.indexOf(type)];
    if (found !== undefined) return hit(leaf, 'exact', { path: found.path, value: type });
    if (types.includes(undefined)) return unknown('the media was not delivered');
    if (types.includes('animated_gif')) return unknown('X does not say what a GIF counts as');
    if (!document.complete) return unknown('the retweeted or quoted post was not delivered');
    return miss(
      leaf,
      'exact',
      `the post has no ${type}`,
      ...keys.map(({ path, key }) => ({ path, value: key })),
    );
  };
}
