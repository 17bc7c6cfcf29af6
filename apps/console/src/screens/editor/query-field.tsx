import type { EditorView } from '@codemirror/view';
import { applyFix, type Diagnostic, type Fix } from '@earshot/query';
import { useEffect, useId, useMemo, useRef } from 'react';
import { Button } from '../../parts/button.tsx';
import { formatCount } from '../../parts/format.ts';
import type { Platform } from '../../parts/platforms.ts';
import { platformNames } from '../../parts/platforms.ts';
import { createCodeEditor, setValue, showDiagnostics } from './code-editor.ts';
import styles from './editor.module.css';
import { FieldProblems, type Violation } from './field-problems.tsx';
import { languages } from './languages.ts';

interface QueryFieldProps {
  readonly platform: Platform;
  readonly value: string;
  readonly violations: readonly Violation[];
  readonly onChange: (value: string) => void;
}

/** A query in the syntax of its platform. It is validated while the user types, by the same code as on the server. */
export function QueryField({ platform, value, violations, onChange }: QueryFieldProps) {
  const id = useId();
  const view = useCodeMirror({ id, platform, value, onChange });
  const checked = useMemo(() => languages[platform].validate(value), [platform, value]);
  const { holder, editor } = view;
  useEffect(() => {
    if (editor.current) showDiagnostics(editor.current, value.trim() === '' ? [] : checked.diagnostics);
  }, [editor, checked, value]);
  const lengthMax = languages[platform].guide().limits['rule_length_max'] ?? 0;
  const fix = (chosen: Fix) => {
    onChange(applyFix(value, chosen));
    editor.current?.focus();
  };
  return (
    <div className={styles.field}>
      <div className={styles.labelRow}>
        <span id={`${id}-label`} className={styles.label}>
          Query on {platformNames[platform]}
        </span>
        <span className={value.length > lengthMax ? styles.bad : styles.quiet}>
          {formatCount(value.length)} of {formatCount(lengthMax)} characters
        </span>
      </div>
      <div ref={holder} className={styles.code} />
      <div id={`${id}-findings`}>
        {value.trim() !== '' && <Findings diagnostics={checked.diagnostics} onFix={fix} />}
        <FieldProblems
          // Findings of the page itself are listed above, with their fixes.
          violations={violations.filter(({ message }) =>
            checked.diagnostics.every((found) => found.message !== message),
          )}
          field={`overrides.${platform}`}
        />
      </div>
      {checked.canonical !== null && checked.canonical !== value && value.trim() !== '' && (
        <p className={styles.quiet}>
          Registered as <code>{checked.canonical}</code>
        </p>
      )}
    </div>
  );
}

function useCodeMirror({
  id,
  platform,
  value,
  onChange,
}: { id: string } & Omit<QueryFieldProps, 'violations'>) {
  const holder = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  const latest = useRef({ value, onChange });
  useEffect(() => {
    latest.current = { value, onChange };
  });
  useEffect(() => {
    const parent = holder.current;
    if (!parent) return undefined;
    const view = createCodeEditor({
      parent,
      platform,
      value: latest.current.value,
      labelledBy: `${id}-label`,
      describedBy: `${id}-findings`,
      onChange: (typed) => latest.current.onChange(typed),
    });
    editor.current = view;
    return () => view.destroy();
  }, [id, platform]);
  useEffect(() => {
    if (editor.current) setValue(editor.current, value);
  }, [value]);
  return { holder, editor };
}

const severityWords = { error: 'Error', suspicious: 'Likely mistake', warning: 'Warning', hint: 'Hint' };

function Findings({ diagnostics, onFix }: { diagnostics: readonly Diagnostic[]; onFix: (fix: Fix) => void }) {
  return (
    <ul className={styles.findings} aria-label="Findings">
      {diagnostics.map(({ severity, code, message, span, fixes }) => (
        <li key={`${code} ${span.join()}`} data-severity={severity}>
          <span>
            <strong>{severityWords[severity]}</strong> {message}
          </span>
          {fixes.map((fix) => (
            <Button key={fix.title} onClick={() => onFix(fix)}>
              {fix.title}
            </Button>
          ))}
        </li>
      ))}
    </ul>
  );
}
