/**
 * A text editor with line numbers and error marks. A plain textarea lies over a highlighted copy of its text, so that keyboard,
 * selection, undo and screen readers work natively. Tab moves the focus, as in other fields.
 */
import { type KeyboardEvent, type ReactNode, useImperativeHandle, useRef, type Ref } from 'react';
import classes from './code-editor.module.css';

export interface Mark {
  line: number;
  message: string;
}

export interface CodeEditorHandle {
  /** Moves the cursor; both numbers start at 1. */
  goTo(line: number, column: number): void;
}

interface CodeEditorProps {
  label: string;
  describedBy?: string;
  value: string;
  onChange: (text: string) => void;
  marks?: readonly Mark[];
  readOnly?: boolean;
  handle?: Ref<CodeEditorHandle>;
}

const PARTS =
  /(?<comment>(?:^|\s)#.*$)|(?<key>"[^"]*"(?=\s*:)|'[^']*'(?=\s*:)|[\p{L}_$*][\p{L}\p{N}_$.-]*(?=:(?:\s|$)))|(?<text>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')|(?<constant>\b(?:true|false|null)\b|(?<![\w.-])-?\d+(?:\.\d+)?(?![\w.-]))/gu;

/** Splits a line into highlighted parts. */
function coloured(line: string): ReactNode[] {
  const pieces: ReactNode[] = [];
  let end = 0;
  for (const match of line.matchAll(PARTS)) {
    const kind = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)?.[0] ?? '';
    if (match.index > end) pieces.push(line.slice(end, match.index));
    pieces.push(
      <span key={match.index} className={classes[kind]}>
        {match[0]}
      </span>,
    );
    end = match.index + match[0].length;
  }
  pieces.push(line.slice(end));
  return pieces;
}

/** Tooltip with the errors of a line, on its number. The list below the editor is accessible to all users. */
function hover(marks: readonly Mark[] = []): { title?: string } {
  return marks.length === 0 ? {} : { title: marks.map(({ message }) => message).join('\n') };
}

/** On Enter, starts the next line with the indent of the current one, deeper after `:`, `{` or `[`. */
function keepIndent(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return;
  const { selectionStart, value } = event.currentTarget;
  const line = value.slice(value.lastIndexOf('\n', selectionStart - 1) + 1, selectionStart);
  const space = /^\s*/.exec(line)?.[0] ?? '';
  const deeper = /[:{[]\s*$/.test(line) ? '  ' : '';
  if (space + deeper === '') return;
  event.preventDefault();
  // `insertText` keeps the browser's undo history.
  document.execCommand('insertText', false, `\n${space}${deeper}`);
}

export function CodeEditor(props: CodeEditorProps) {
  const { value, onChange, marks = [], readOnly = false } = props;
  const area = useRef<HTMLTextAreaElement>(null);
  const lines = value.split('\n');
  const wrong = Map.groupBy(marks, (mark) => mark.line);
  useImperativeHandle(props.handle, () => ({
    goTo(line, column) {
      const before = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
      const at = Math.min(value.length, before + Math.min(column - 1, lines[line - 1]?.length ?? 0));
      area.current?.focus();
      area.current?.setSelectionRange(at, at);
    },
  }));
  return (
    <div className={classes.editor} data-read-only={readOnly || undefined}>
      <div className={classes.gutter} aria-hidden="true">
        {lines.map((_, index) => (
          // Lines are identified by their number.
          // oxlint-disable-next-line react/no-array-index-key
          <span key={index} data-wrong={wrong.has(index + 1) || undefined} {...hover(wrong.get(index + 1))}>
            {index + 1}
          </span>
        ))}
      </div>
      <div className={classes.content}>
        <pre className={classes.copy} aria-hidden="true">
          {lines.map((line, index) => (
            // oxlint-disable-next-line react/no-array-index-key
            <span key={index} className={classes.line} data-wrong={wrong.has(index + 1) || undefined}>
              {coloured(line)}
            </span>
          ))}
        </pre>
        <textarea
          ref={area}
          className={classes.area}
          aria-label={props.label}
          aria-describedby={props.describedBy}
          aria-invalid={marks.length > 0 || undefined}
          value={value}
          readOnly={readOnly}
          onChange={(event) => onChange(event.currentTarget.value)}
          onKeyDown={readOnly ? undefined : keepIndent}
          wrap="off"
          spellCheck={false}
          autoCapitalize="off"
          autoCorrect="off"
        />
      </div>
    </div>
  );
}
