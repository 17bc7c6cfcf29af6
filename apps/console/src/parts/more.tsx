import { Button } from './button.tsx';

/** Reads the next page of a list. */
export function More({
  pages: { hasNextPage, isFetchingNextPage, fetchNextPage },
}: {
  pages: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
}) {
  if (!hasNextPage) return null;
  return (
    <p>
      <Button onClick={() => void fetchNextPage()} disabled={isFetchingNextPage}>
        {isFetchingNextPage ? 'Reading …' : 'Show more'}
      </Button>
    </p>
  );
}
