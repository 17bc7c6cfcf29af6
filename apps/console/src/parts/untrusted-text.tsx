import { unhidden } from '@earshot/mcp/visible';
import styles from './untrusted-text.module.css';

/** Untrusted content as a text node. Hidden and reordering characters are made visible. */
export function UntrustedText({ text }: { text: string }) {
  return <bdi className={styles.text}>{unhidden(text, { lines: true })}</bdi>;
}

/** An untrusted link whose text begins with its real host. Anything that is not an HTTP address is shown as text. */
export function UntrustedLink({ href }: { href: string }) {
  const url = URL.parse(href);
  if (!url || !/^https?:$/.test(url.protocol)) return <UntrustedText text={href} />;
  return (
    <a href={url.href} rel="noreferrer noopener" target="_blank" className={styles.link}>
      {url.host}
      <span className={styles.path}>{unhidden(`${url.pathname}${url.search}${url.hash}`)}</span>
    </a>
  );
}
