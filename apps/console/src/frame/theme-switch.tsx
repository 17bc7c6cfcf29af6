import { useState } from 'react';
import { applyTheme, storedTheme, storeTheme, themes } from './theme.ts';

const labels = { auto: 'System', light: 'Light', dark: 'Dark' };

export function ThemeSwitch() {
  const [theme, setTheme] = useState(storedTheme);
  return (
    <select
      aria-label="Colours"
      value={theme}
      onChange={({ target }) => {
        const chosen = themes.find((known) => known === target.value) ?? 'auto';
        setTheme(chosen);
        storeTheme(chosen);
        applyTheme(chosen);
      }}
    >
      {themes.map((known) => (
        <option key={known} value={known}>
          {labels[known]}
        </option>
      ))}
    </select>
  );
}
