import { useEffect, useState } from 'react';

/** A number that changes with the colours, so that canvases can be drawn again. */
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
