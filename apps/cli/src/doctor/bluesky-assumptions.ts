import { settledBy } from './register.ts';

/** The rows of docs/upstreams/bluesky.md; a test compares them. */
export const blueskyAssumptions = {
  'B-1': settledBy('B0', 'Frames', 'posts with author, time, key and record'),
  'B-2': settledBy('B0', 'Filter', 'only `app.bsky.feed.post`'),
  'B-3': settledBy('B0', 'Rate', 'more than one post a second'),
  'B-4': settledBy('B0', 'A cursor in microseconds', 'the stream starts at this time'),
  'B-5': settledBy('B0', 'A cursor that is too old', 'the stream starts at the oldest event'),
};
