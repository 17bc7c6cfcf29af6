import { unhidden } from '@earshot/mcp/visible';
import styles from './feed.module.css';
import { cutAtMarks, type Mark } from './marks.ts';

/** Untrusted content with marks at the matching words. `active` is the clause that the user points at. */
export function MarkedText({
  text,
  marks,
  active = null,
}: {
  text: string;
  marks: readonly Mark[];
  active?: number | null;
}) {
  return (
    <bdi className={styles.untrusted}>
      {cutAtMarks(text, marks).map((piece, index) =>
        piece.evidence === null ? (
          unhidden(piece.text, { lines: true })
        ) : (
          <mark key={index} data-active={piece.evidence === active}>
            {unhidden(piece.text, { lines: true })}
          </mark>
        ),
      )}
    </bdi>
  );
}
