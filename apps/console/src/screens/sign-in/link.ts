import { useEffect, useState } from 'react';

/** A one-time link that somebody came by. */
export interface Link {
  readonly code: string | null;
  readonly forget: () => void;
}

export function useLink(): Link {
  const [code, setCode] = useState(takeCode);
  useEffect(() => {
    // Another link in the same tab, after one that was too old, does not load the page again.
    const look = () => {
      const found = takeCode();
      if (found !== null) setCode(found);
    };
    window.addEventListener('hashchange', look);
    return () => window.removeEventListener('hashchange', look);
  }, []);
  return { code, forget: () => setCode(null) };
}

/** The code is taken out of the address, so that neither history nor a copied address keeps it. */
function takeCode(): string | null {
  const code = new URLSearchParams(window.location.hash.slice(1)).get('code');
  if (code !== null) window.history.replaceState(null, '', window.location.pathname);
  return code;
}
