/** List of validation errors in a text; a click moves the cursor to the error. */
import { Anchor } from '@mantine/core';
import { useText } from '../../i18n/text.ts';
import { Panel } from '../../ui/page.tsx';
import classes from './item-editor.module.css';
import type { Problem } from './queries.ts';
import { texts } from './texts.ts';

interface ProblemListProps {
  problems: readonly Problem[];
  goTo: (line: number, column: number, file: string | null) => void;
  /** True to show file names. */
  files?: boolean;
}

export function ProblemList({ problems, goTo, files = false }: ProblemListProps) {
  const t = useText(texts);
  return (
    <Panel title={t.problemsTitle}>
      <ul className={classes.problems} aria-label={t.problemsTitle}>
        {problems.map((problem) => (
          <li
            key={`${problem.file} ${problem.line} ${problem.column} ${problem.at} ${problem.code} ${problem.message}`}
          >
            {problem.line === null ? (
              <span>{t.elsewhere}</span>
            ) : (
              <Anchor
                component="button"
                size="sm"
                style={{ whiteSpace: 'nowrap' }}
                onClick={() => goTo(problem.line ?? 1, problem.column ?? 1, problem.file)}
              >
                {files ? `${problem.file}: ` : ''}
                {t.place(problem.line, problem.column ?? 1)}
              </Anchor>
            )}
            <span>
              {problem.message} {problem.at !== '' && <code>{problem.at}</code>}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
