/** The audit log in words: what happened, to what, and from where. */
import { Code, Text } from '@mantine/core';
import { useCallback, useMemo } from 'react';
import { labelText, useLabels } from '../../fields/labels.ts';
import { useText } from '../../i18n/text.ts';
import classes from './audit.module.css';
import { kindTexts, subjectTexts, viaTexts } from './kind-texts.ts';

function said(words: Readonly<Record<string, unknown>>, code: string): string {
  const word = Object.hasOwn(words, code) ? words[code] : undefined;
  return typeof word === 'string' ? word : code;
}

export function useAuditWords(): { kindOf: (type: string) => string; viaOf: (via: string) => string } {
  const kinds = useText(kindTexts);
  const vias = useText(viaTexts);
  return useMemo(
    () => ({ kindOf: (type: string) => said(kinds, type), viaOf: (via: string) => said(vias, via) }),
    [kinds, vias],
  );
}

const ID = /^(user|group|orgUnit):([0-9a-f-]{36})$/;

/** Names what entries are about: people, groups and units by name, the rest by its code. */
export function useSubjects(subjects: readonly (string | null)[]): (subject: string | null) => string {
  const words = useText(subjectTexts);
  const labels = useLabels(subjects.flatMap((subject) => ID.exec(subject ?? '')?.[2] ?? []));
  return useCallback(
    (subject) => {
      if (subject === null) return '';
      const cut = subject.indexOf(':');
      const kind = said(words, subject.slice(0, cut));
      const rest = subject.slice(cut + 1);
      return `${kind}: ${labelText(labels.get(rest)) ?? rest}`;
    },
    [words, labels],
  );
}

/** Data of an entry on one line; all of it on opening. */
export function Details({ data }: { data: Readonly<Record<string, unknown>> }) {
  const line = Object.entries(data)
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
  if (line.length <= 60) return <Text size="xs">{line}</Text>;
  return (
    <details className={classes.details}>
      <summary>{`${line.slice(0, 56)}…`}</summary>
      {/* Who scrolls by keyboard must be able to come there. */}
      <Code block tabIndex={0}>
        {JSON.stringify(data, null, 2)}
      </Code>
    </details>
  );
}
