import type { LeafNode, Test } from '../../ast.ts';
import type { LeafVerdict } from '../../language.ts';
import {
  field,
  isJson,
  list,
  type Post,
  references,
  shownJson,
  source,
  textOf,
  type XDocument,
} from '../document.ts';
import { hit, type LeafEvaluator, miss, termOf, unknown } from './verdict.ts';
import { search } from './words.ts';

/** Places belong to the post itself: never to a retweet, never to the quoted post. */
function ownGeo(document: XDocument): unknown {
  return references(document.own, 'retweeted').length > 0 ? undefined : document.own.data['geo'];
}

export const hasGeo: LeafEvaluator = (leaf, document) =>
  isJson(ownGeo(document))
    ? hit(leaf, 'exact', { path: 'data.geo', value: shownJson(ownGeo(document)) })
    : miss(leaf, 'exact', 'the post has no place');

export const place: LeafEvaluator = (leaf, document) => {
  const geo = ownGeo(document);
  if (!isJson(geo)) return miss(leaf, 'exact', 'the post has no place');
  const id = textOf(geo['place_id']);
  if (id === undefined) return miss(leaf, 'approximate', 'the post has no tagged place');
  if (id.toLowerCase() === termOf(leaf)) return hit(leaf, 'exact', { path: 'data.geo.place_id', value: id });
  const found = document.place(id);
  if (found === undefined) return unknown('the place was not delivered');
  const names = ['name', 'full_name', 'country'].flatMap((name) => {
    const text = textOf(found.data[name]);
    return text === undefined ? [] : [source(`${found.path}.${name}`, text)];
  });
  return (
    search(leaf, names) ??
    miss(leaf, 'approximate', 'another place', ...names.map(({ path, text }) => ({ path, value: text })))
  );
};

export const placeCountry: LeafEvaluator = (leaf, document) => {
  const geo = ownGeo(document);
  if (!isJson(geo)) return miss(leaf, 'exact', 'the post has no place');
  const found = document.place(geo['place_id']);
  const code = textOf(found?.data['country_code']);
  if (found === undefined || code === undefined) return unknown('the country was not delivered');
  const where = { path: `${found.path}.country_code`, value: code };
  return code.toLowerCase() === termOf(leaf)
    ? hit(leaf, 'exact', where)
    : miss(leaf, 'exact', `the country is ${code}`, where);
};

/** The post's coordinates decide exactly; of a tagged place only the bounding box is known. */
export const area: LeafEvaluator = (leaf, document) => {
  const { test } = leaf;
  if (test.type !== 'circle' && test.type !== 'box') return unknown('the area could not be read');
  const geo = ownGeo(document);
  if (!isJson(geo)) return miss(leaf, 'exact', 'the post has no place');
  const point = pair(field(geo['coordinates'], 'coordinates'));
  if (point !== null) {
    const where = { path: 'data.geo.coordinates', value: point.join(' ') };
    return inside(test, point) ? hit(leaf, 'exact', where) : miss(leaf, 'exact', 'outside the area', where);
  }
  return placeInside(leaf, test, document.place(geo['place_id']));
};

function placeInside(leaf: LeafNode, test: Area, found: Post | undefined): LeafVerdict {
  const bbox = list(field(found?.data['geo'], 'bbox'));
  const corners = [pair(bbox.slice(0, 2)), pair(bbox.slice(2, 4))];
  const [southWest, northEast] = corners;
  if (found === undefined || southWest == null || northEast == null)
    return unknown('the outline of the place was not delivered');
  const where = { path: `${found.path}.geo.bbox`, value: bbox.join(' ') };
  const all = [southWest, northEast, [southWest[0], northEast[1]], [northEast[0], southWest[1]]] as const;
  return all.every((corner) => inside(test, corner))
    ? hit(leaf, 'approximate', where)
    : miss(leaf, 'approximate', 'outside the area', where);
}

type Area = Extract<Test, { type: 'circle' } | { type: 'box' }>;
type Point = readonly [longitude: number, latitude: number];

function pair(value: unknown): Point | null {
  const [longitude, latitude] = list(value);
  return typeof longitude === 'number' && typeof latitude === 'number' ? [longitude, latitude] : null;
}

function inside(area: Area, [longitude, latitude]: Point): boolean {
  if (area.type === 'box') {
    return (
      longitude >= area.west && longitude <= area.east && latitude >= area.south && latitude <= area.north
    );
  }
  return distanceKm([area.longitude, area.latitude], [longitude, latitude]) <= area.radiusKm;
}

const earthRadiusKm = 6371.0088;

function distanceKm(a: Point, b: Point): number {
  const radians = Math.PI / 180;
  const byLatitude = Math.sin(((b[1] - a[1]) * radians) / 2) ** 2;
  const byLongitude = Math.sin(((b[0] - a[0]) * radians) / 2) ** 2;
  const chord = byLatitude + Math.cos(a[1] * radians) * Math.cos(b[1] * radians) * byLongitude;
  return 2 * earthRadiusKm * Math.asin(Math.min(1, Math.sqrt(chord)));
}
