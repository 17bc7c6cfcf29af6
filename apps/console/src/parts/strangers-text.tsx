import { unhidden } from '@earshot/mcp/visible';
import styles from './strangers-text.module.css';

/** What somebody out there wrote: a text node, with hidden and reordering characters written out. */
export function StrangersText({ text }: { text: string }) {
  return <bdi className={styles.text}>{unhidden(text, { lines: true })}</bdi>;
}

/** An address out there, followed by the host that it really leads to. Anything but a web address is text. */
export function StrangersLink({ href }: { href: string }) {
  const url = URL.parse(href);
  if (!url || !/^https?:$/.test(url.protocol)) return <StrangersText text={href} />;
  return (
    <a href={url.href} rel="noreferrer noopener" target="_blank" className={styles.link}>
      {url.host}
      <span className={styles.path}>{unhidden(`${url.pathname}${url.search}${url.hash}`)}</span>
    </a>
  );
}
