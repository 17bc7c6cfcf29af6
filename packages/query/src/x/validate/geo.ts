import type { LeafNode, Test } from '../../ast.ts';
import { certain, error, type Fix, replacement } from '../../diagnostics.ts';
import type { LeafRule, View } from './rule.ts';

const sideKmMax = 25 * 1.609344;
const kmPerDegree = 111.32;

/** Brackets of `point_radius:` and `bounding_box:`: numbers with spaces, in range, below 25 miles. */
export const geo: LeafRule = (leaf, view) => {
  if (leaf.valueSpan[0] === leaf.valueSpan[1]) return;
  const problem = problemOf(leaf, view);
  if (problem === null) return;
  view.report(error('bad_area', problem.message, leaf.valueSpan, problem.fixes));
};

interface Problem {
  readonly message: string;
  readonly fixes: readonly Fix[];
}

function problemOf(leaf: LeafNode, view: View): Problem | null {
  const { test } = leaf;
  if (test.type === 'circle') return circleProblem(leaf, test);
  if (test.type === 'box') return boxProblem(leaf, test);
  const written = view.text.slice(leaf.valueSpan[0], leaf.valueSpan[1]);
  const form =
    leaf.field === 'point_radius'
      ? '[longitude latitude radius], for example [-21.9 64.1 16km]'
      : '[west south east north], for example [-22.1 64.0 -21.7 64.2]';
  return { message: `${leaf.field}: takes ${form}, separated by spaces.`, fixes: bracketFix(leaf, written) };
}

/** Corrects commas, a space before the unit and a missing unit, the usual mistakes. */
function bracketFix(leaf: LeafNode, written: string): Fix[] {
  const parts = written
    .replaceAll(/[[\],]/g, ' ')
    .replace(/(\d)\s+(km|mi)(?=\s*$)/i, '$1$2')
    .split(/\s+/)
    .filter((part) => part !== '');
  const numeric = parts.every((part) => /^-?\d{1,4}(\.\d{1,20})?(mi|km)?$/i.test(part));
  if (!numeric || parts.length !== (leaf.field === 'point_radius' ? 3 : 4)) return [];
  const last = parts.at(-1) ?? '';
  if (leaf.field === 'point_radius' && !/[a-z]$/i.test(last)) parts.splice(2, 1, `${last}km`);
  if (parts.slice(0, leaf.field === 'point_radius' ? 2 : 4).some((part) => /[a-z]$/i.test(part))) return [];
  const text = `[${parts.join(' ')}]`;
  const asWritten = replacement(`Write ${text}`, leaf.valueSpan, text);
  // Who writes commas usually puts the latitude first.
  if (written.includes(',')) return [...swappedFix(leaf, parts), asWritten];
  return [/\d\s*(?:km|mi)\s*\]$/i.test(written) ? certain(asWritten) : asWritten];
}

function swappedFix(leaf: LeafNode, [first = '', second = '', ...rest]: readonly string[]): Fix[] {
  if (leaf.field !== 'point_radius') return [];
  const text = `[${[second, first, ...rest].join(' ')}]`;
  return [replacement(`Longitude first: ${text}`, leaf.valueSpan, text)];
}

function outside(longitude: number, latitude: number): boolean {
  return Math.abs(longitude) > 180 || Math.abs(latitude) > 90;
}

function circleProblem(leaf: LeafNode, test: Extract<Test, { type: 'circle' }>): Problem | null {
  const { longitude, latitude, radiusKm } = test;
  if (outside(longitude, latitude)) {
    return { message: 'Longitude comes first (−180 to 180), then latitude (−90 to 90).', fixes: [] };
  }
  if (radiusKm > 0 && radiusKm < sideKmMax) return null;
  const text = `[${longitude} ${latitude} 24mi]`;
  return {
    message: 'The radius must be below 25 miles (40.2 km).',
    fixes: [replacement('Use 24mi', leaf.valueSpan, text)],
  };
}

function boxProblem(leaf: LeafNode, test: Extract<Test, { type: 'box' }>): Problem | null {
  const { west, south, east, north } = test;
  if (outside(west, south) || outside(east, north)) {
    return { message: 'Longitude comes first (−180 to 180), then latitude (−90 to 90).', fixes: [] };
  }
  if (west >= east || south >= north) {
    const text = `[${Math.min(west, east)} ${Math.min(south, north)} ${Math.max(west, east)} ${Math.max(south, north)}]`;
    const fixes =
      west === east || south === north ? [] : [replacement(`Write ${text}`, leaf.valueSpan, text)];
    return {
      message: 'The order is west, south, east, north: the south-west corner, then the north-east one.',
      fixes,
    };
  }
  const nearestToEquator = south <= 0 && north >= 0 ? 0 : Math.min(Math.abs(south), Math.abs(north));
  const widthKm = (east - west) * kmPerDegree * Math.cos((nearestToEquator * Math.PI) / 180);
  if (widthKm < sideKmMax && (north - south) * kmPerDegree < sideKmMax) return null;
  return {
    message: 'Each side of the box must be below 25 miles (40.2 km). Split it into several boxes with OR.',
    fixes: [],
  };
}
