export const referencePageStyle = `
:root {
  --text: #1c2430; --muted: #5b6675; --line: #dfe3e8; --page: #ffffff; --soft: #f5f7f9; --link: #0b5cad; --get: #0b6b45; --post: #8a4300;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #dfe5ec; --muted: #98a4b3; --line: #2c3540; --page: #12171d; --soft: #1a2129; --link: #7db8f5; --get: #6fd3a5; --post: #f0b072;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0 auto; max-width: 76rem; display: grid; grid-template-columns: 13rem minmax(0, 1fr); gap: 3rem; padding: 0 1.5rem;
  font: 16px/1.55 system-ui, sans-serif; color: var(--text); background: var(--page); }
nav { position: sticky; top: 0; align-self: start; padding-top: 2rem; font-size: 0.9rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li { padding: 0.2rem 0; }
.brand { font-weight: 700; margin: 0 0 0.75rem; }
main { padding: 1rem 0 4rem; }
a { color: var(--link); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
h1 { font-size: 1.9rem; line-height: 1.2; }
h2 { font-size: 1.35rem; margin: 0 0 0.5rem; }
h3 { font-size: 0.85rem; margin: 1.5rem 0 0.4rem; color: var(--muted); }
section { border-top: 1px solid var(--line); margin-top: 2.5rem; padding-top: 2rem; }
.route { margin: 0.25rem 0 0.75rem; }
.method { font: 700 0.8rem/1 ui-monospace, monospace; border: 1px solid currentcolor; border-radius: 4px; padding: 0.15rem 0.4rem; }
.get { color: var(--get); }
.post { color: var(--post); }
.scope, .presence { color: var(--muted); font-size: 0.8rem; }
.scope { margin-left: 0.5rem; }
code, pre { font-family: ui-monospace, "Liberation Mono", monospace; font-size: 0.875em; }
td:first-child { white-space: nowrap; }
p code, td:last-child code { background: var(--soft); border-radius: 3px; padding: 0.05em 0.3em; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: 0.8rem 1rem; margin: 0.5rem 0; overflow-x: auto;
  line-height: 1.45; }
pre.answer { max-height: 24rem; overflow-y: auto; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { text-align: left; vertical-align: top; padding: 0.4rem 0.75rem 0.4rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--muted); }
.error { display: inline-block; margin: 0 0.75rem 0.2rem 0; font: 0.85rem ui-monospace, "Liberation Mono", monospace; }
tr:target, div:target { background: var(--soft); }
@media (max-width: 50rem) {
  body { grid-template-columns: minmax(0, 1fr); gap: 0; padding: 0 1rem; }
  nav { position: static; }
}
`;
