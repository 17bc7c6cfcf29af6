import { spend } from '../../budget.ts';
import { foldForMatch } from '../characters.ts';
import { entities, field, list, source, textOf } from '../document.ts';
import { contentMiss, hit, type LeafEvaluator, miss, termOf, unknown } from './verdict.ts';
import { search } from './words.ts';

/** X follows links when it matches; the item may lack their targets, so all verdicts here are approximate. */
export const url: LeafEvaluator = (leaf, document) =>
  search(leaf, document.links()) ?? contentMiss(leaf, document, 'approximate', 'not in a link of the post');

const stepsPerFolded = 3;

export const urlContains: LeafEvaluator = (leaf, document) => {
  const wanted = foldForMatch(termOf(leaf));
  for (const { path, text } of document.links()) {
    spend(stepsPerFolded * text.length);
    const lower = foldForMatch(text);
    const at = wanted === '' ? -1 : lower.indexOf(wanted);
    if (at < 0) continue;
    const range =
      lower.length === text.length ? ([at, at + wanted.length] as const) : ([0, text.length] as const);
    return hit(leaf, 'approximate', { path, range, value: text.slice(range[0], range[1]) });
  }
  return contentMiss(leaf, document, 'approximate', 'not in a link of the post');
};

export const urlTitle = pageEvaluator('title');
export const urlDescription = pageEvaluator('description');

/** X fetches the linked page after the post, so a link without a title decides nothing. */
function pageEvaluator(name: string): LeafEvaluator {
  return (leaf, document) => {
    const links = document.content.flatMap((post) => entities(post, 'urls'));
    const texts = links.flatMap(({ path, data }) => {
      const text = textOf(data[name]);
      return text === undefined ? [] : [source(`${path}.${name}`, text)];
    });
    const found = search(leaf, texts);
    if (found !== null) return found;
    if (texts.length < links.length) return unknown(`the ${name} of a linked page was not delivered`);
    if (!document.complete) return unknown('the retweeted or quoted post was not delivered');
    return miss(
      leaf,
      'approximate',
      `not in the ${name} of a linked page`,
      ...texts.map(({ path, text }) => ({ path, value: text })),
    );
  };
}

/** X adds annotations late, so only a present one is conclusive. */
export const context: LeafEvaluator = (leaf, document) => {
  const [domain = '', entity = ''] = termOf(leaf).split('.');
  let delivered = false;
  for (const post of document.content) {
    delivered ||= post.data['context_annotations'] !== undefined;
    for (const [index, annotation] of list(post.data['context_annotations']).entries()) {
      const domainId = textOf(field(field(annotation, 'domain'), 'id'));
      const entityId = textOf(field(field(annotation, 'entity'), 'id'));
      if ((domain === '*' || domain === domainId) && (entity === '*' || entity === entityId)) {
        return hit(leaf, 'exact', {
          path: `${post.path}.context_annotations[${index}]`,
          value: `${domainId}.${entityId}`,
        });
      }
    }
  }
  if (!delivered) return unknown('the annotations were not delivered');
  return contentMiss(leaf, document, 'approximate', 'the post has no such annotation');
};

export const entity: LeafEvaluator = (leaf, document) => {
  const names = document.content.flatMap((post) => [
    ...entities(post, 'annotations').map(({ path, data }) => ({
      path: `${path}.normalized_text`,
      text: textOf(data['normalized_text']),
    })),
    ...list(post.data['context_annotations']).map((annotation, index) => ({
      path: `${post.path}.context_annotations[${index}].entity.name`,
      text: textOf(field(field(annotation, 'entity'), 'name')),
    })),
  ]);
  const sources = names.flatMap(({ path, text }) => (text === undefined ? [] : [source(path, text)]));
  if (sources.length === 0) return unknown('the annotations were not delivered');
  const found = search(leaf, sources);
  if (found !== null) return found;
  if (!document.complete) return unknown('the retweeted or quoted post was not delivered');
  return miss(
    leaf,
    'approximate',
    'no such annotation',
    ...sources.map(({ path, text }) => ({ path, value: text })),
  );
};

export const postingApp: LeafEvaluator = (leaf, document) => {
  const app = textOf(document.own.data['source']);
  if (app === undefined) return unknown('X no longer delivers the posting app');
  return (
    search(leaf, [source('data.source', app)]) ??
    miss(leaf, 'approximate', 'another app', { path: 'data.source', value: app })
  );
};
