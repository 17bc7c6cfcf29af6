import { Button } from './button.tsx';

/** The button that loads the next page of a list. */
export function More({
  pages: { hasNextPage, isFetchingNextPage, fetchNextPage },
}: {
  pages: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
}) {
  if (!hasNextPage) return null;
  return (
    <p>
      <Button onClick={() => void fetchNextPage()} disabled={isFetchingNextPage}>
        {isFetchingNextPage ? 'Loading …' : 'Show more'}
      </Button>
    </p>
  );
}
