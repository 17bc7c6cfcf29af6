import { unhidden } from '@earshot/mcp/visible';
import styles from './feed.module.css';
import { cutAtMarks, type Mark } from './marks.ts';

/** A stranger's text with the places that made it match. `active` is the clause that the reader points at. */
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
    <bdi className={styles.strangers}>
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
