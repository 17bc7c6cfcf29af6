import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { lintKeymap, type Diagnostic as Marker, setDiagnostics } from '@codemirror/lint';
import { type Extension, RangeSetBuilder } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  keymap,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view';
import type { Diagnostic } from '@earshot/query';
import type { Platform } from '../../parts/platforms.ts';
import { suggest } from './completion.ts';
import { languages } from './languages.ts';

export interface CodeEditorOptions {
  readonly parent: HTMLElement;
  readonly platform: Platform;
  readonly value: string;
  readonly labelledBy: string;
  readonly describedBy: string;
  readonly onChange: (value: string) => void;
}

/**
 * An editor for one query, with the highlighting and completion of `@earshot/query`. Tab leaves the editor, so that
 * keyboard users can move on.
 */
export function createCodeEditor(options: CodeEditorOptions): EditorView {
  const { parent, platform, value, labelledBy, describedBy, onChange } = options;
  return new EditorView({
    parent,
    doc: value,
    extensions: [
      // The content security policy refuses styles without the nonce.
      EditorView.cspNonce.of(nonceOf(document)),
      EditorView.contentAttributes.of({
        'aria-labelledby': labelledBy,
        'aria-describedby': describedBy,
        'aria-multiline': 'true',
        spellcheck: 'false',
      }),
      EditorView.lineWrapping,
      history(),
      drawSelection(),
      closeBrackets(),
      tokenColours(platform),
      completions(platform),
      keymap.of([
        ...closeBracketsKeymap,
        ...defaultKeymap,
        ...historyKeymap,
        ...completionKeymap,
        ...lintKeymap,
      ]),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) onChange(update.state.doc.toString());
      }),
    ],
  });
}

/** Replaces the text only if it differs. Typed text returns as a property, and replacing it would move the cursor. */
export function setValue(view: EditorView, value: string): void {
  const { doc } = view.state;
  if (doc.toString() === value) return;
  view.dispatch({ changes: { from: 0, to: doc.length, insert: value } });
}

export function showDiagnostics(view: EditorView, diagnostics: readonly Diagnostic[]): void {
  const { length } = view.state.doc;
  const markers = diagnostics.map(
    ({ severity, message, span: [from, to] }): Marker => ({
      from: Math.min(from, length),
      to: Math.min(to, length),
      severity: severity === 'suspicious' ? 'error' : severity === 'hint' ? 'info' : severity,
      message,
    }),
  );
  view.dispatch(setDiagnostics(view.state, markers));
}

/** Reads the nonce that the server wrote. Browsers hide the attribute but keep the property. */
function nonceOf(page: Document): string {
  return page.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
}

function completions(platform: Platform): Extension {
  const guide = languages[platform].guide();
  return autocompletion({
    icons: false,
    override: [
      ({ state, pos, explicit }) => {
        const found = suggest(guide, state.doc.toString(), pos);
        if (!found || (found.from === pos && !explicit)) return null;
        return {
          from: found.from,
          options: found.options.map(({ insert, form, meaning, tier }) => ({
            label: insert,
            displayLabel: form,
            info: meaning,
            ...(tier !== '' && { detail: `needs ${tier}` }),
          })),
        };
      },
    ],
  });
}

function tokenColours(platform: Platform): Extension {
  const decorate = (view: EditorView): DecorationSet => {
    const builder = new RangeSetBuilder<Decoration>();
    for (const { kind, span } of languages[platform].parse(view.state.doc.toString()).tokens)
      if (span[0] < span[1]) builder.add(span[0], span[1], Decoration.mark({ class: `token-${kind}` }));
    return builder.finish();
  };
  return ViewPlugin.fromClass(
    class {
      decorations: DecorationSet;
      constructor(view: EditorView) {
        this.decorations = decorate(view);
      }
      update(update: ViewUpdate) {
        if (update.docChanged) this.decorations = decorate(update.view);
      }
    },
    { decorations: (plugin) => plugin.decorations },
  );
}
