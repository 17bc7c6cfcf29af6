export { canonicalText } from './canonical-text.ts';
