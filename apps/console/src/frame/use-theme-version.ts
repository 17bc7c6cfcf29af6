import { useEffect, useState } from 'react';

/** Changes with the colours, for what is drawn on a canvas. */
export function useThemeVersion(): number {
  const [version, setVersion] = useState(0);
  useEffect(() => {
    const onChange = () => setVersion((before) => before + 1);
    const system = matchMedia('(prefers-color-scheme: dark)');
    const chosen = new MutationObserver(onChange);
    system.addEventListener('change', onChange);
    chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      system.removeEventListener('change', onChange);
      chosen.disconnect();
    };
  }, []);
  return version;
}
