import { useEffect, useState } from 'react';

/** A one-time sign-in link that opened the page. */
export interface Link {
  readonly code: string | null;
  readonly forget: () => void;
}

export function useLink(): Link {
  const [code, setCode] = useState(takeCode);
  useEffect(() => {
    // A second link in the same tab changes only the hash, which does not reload the page.
    const onChange = () => {
      const found = takeCode();
      if (found !== null) setCode(found);
    };
    window.addEventListener('hashchange', onChange);
    return () => window.removeEventListener('hashchange', onChange);
  }, []);
  return { code, forget: () => setCode(null) };
}

/** Reads the code and removes it from the address, so that it is not in the history or in a copied address. */
function takeCode(): string | null {
  const code = new URLSearchParams(window.location.hash.slice(1)).get('code');
  if (code !== null) window.history.replaceState(null, '', window.location.pathname);
  return code;
}
