/** List of validation errors in a text; a click moves the cursor to the error. */
import { Anchor } from '@mantine/core';
import { useText } from '../../i18n/text.ts';
import { Panel } from '../../ui/page.tsx';
import classes from './item-editor.module.css';
import type { Flaw } from './queries.ts';
import { texts } from './texts.ts';
import { useFlawWords } from './use-flaw-words.ts';

interface FlawListProps {
  flaws: readonly Flaw[];
  goTo: (line: number, column: number, file: string | null) => void;
  /** True to show file names. */
  files?: boolean;
}

export function FlawList({ flaws, goTo, files = false }: FlawListProps) {
  const t = useText(texts);
  const say = useFlawWords();
  return (
    <Panel title={t.flawsTitle}>
      <ul className={classes.flaws} aria-label={t.flawsTitle}>
        {flaws.map((flaw) => (
          <li key={`${flaw.file} ${flaw.line} ${flaw.column} ${flaw.at} ${flaw.code} ${flaw.message}`}>
            {flaw.line === null ? (
              <span>{t.elsewhere}</span>
            ) : (
              <Anchor
                component="button"
                size="sm"
                style={{ whiteSpace: 'nowrap' }}
                onClick={() => goTo(flaw.line ?? 1, flaw.column ?? 1, flaw.file)}
              >
                {files ? `${flaw.file}: ` : ''}
                {t.place(flaw.line, flaw.column ?? 1)}
              </Anchor>
            )}
            <span>
              <span lang={say(flaw).lang}>{say(flaw).text}</span> {flaw.at !== '' && <code>{flaw.at}</code>}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
