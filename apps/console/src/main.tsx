import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { applyTheme, storedTheme } from './frame/theme.ts';
import { knowPlatforms } from './parts/platforms.ts';
import './tokens.css';
import './base.css';

applyTheme(storedTheme());
knowPlatforms(document.documentElement.dataset['platforms']);

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root');
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
