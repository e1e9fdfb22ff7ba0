/** Texts of audit log entries: action, subject and source. */
import { Code, Text } from '@mantine/core';
import { useCallback, useMemo } from 'react';
import { labelText, useLabels } from '../../fields/labels.ts';
import { useText } from '../../i18n/text.ts';
import classes from './audit.module.css';
import { detailTexts } from './detail-texts.ts';
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

const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

type Data = Readonly<Record<string, unknown>>;

/** Keys and articles have no code; their name is in the entry's data. */
function ownName({ name, title, code }: Data): string | undefined {
  return [name, title, code].find((one): one is string => typeof one === 'string');
}

/**
 * Returns a function that names the subject of an entry: users, groups and units by name, keys and articles by the entry's
 * data, others by code.
 */
export function useSubjects(subjects: readonly (string | null)[]): (subject: string | null, data: Data) => string {
  const words = useText(subjectTexts);
  const labels = useLabels(subjects.flatMap((subject) => ID.exec(subject ?? '')?.[2] ?? []));
  return useCallback(
    (subject, data) => {
      if (subject === null) return '';
      const cut = subject.indexOf(':');
      const kind = said(words, subject.slice(0, cut));
      const rest = subject.slice(cut + 1);
      const name = labelText(labels.get(rest)) ?? (UUID.test(rest) ? ownName(data) : undefined);
      return `${kind}: ${name ?? (UUID.test(rest) ? `${rest.slice(0, 8)}…` : rest)}`;
    },
    [words, labels],
  );
}

/** The keys that differ between before and after. */
function changedKeys(before: unknown, after: unknown): string[] {
  const sides = [before, after].map((side) => (typeof side === 'object' && side !== null ? (side as Data) : {}));
  const keys = new Set(sides.flatMap((side) => Object.keys(side)));
  return [...keys].filter((key) => JSON.stringify(sides[0]?.[key]) !== JSON.stringify(sides[1]?.[key]));
}

function short(value: unknown): string {
  if (Array.isArray(value)) return value.map(short).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Formats the data of an entry in one line. */
function useDetailsLine(): (data: Data) => string {
  const words = useText(detailTexts);
  return ({ before, after, ...rest }) => {
    const parts = Object.entries(rest)
      .filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))
      .filter(([, value]) => !(typeof value === 'string' && UUID.test(value)))
      .map(([key, value]) => `${said(words, key)}: ${said(words, short(value))}`);
    const isList = Array.isArray(before) || Array.isArray(after);
    const keys = isList || before === undefined || before === null ? [] : changedKeys(before, after);
    if (keys.length > 0) parts.push(`${words.changed}: ${keys.join(', ')}`);
    return parts.join(' · ');
  };
}

/** The data of an entry in one line; all of it when opened. */
export function Details({ data }: { data: Data }) {
  const words = useText(detailTexts);
  const line = useDetailsLine()(data);
  const simple = data['before'] === undefined && data['after'] === undefined && line.length <= 90;
  if (simple) return <Text size="xs">{line}</Text>;
  return (
    <details className={classes.details}>
      <summary>{line === '' ? words.whole : line.length > 90 ? `${line.slice(0, 88)}…` : line}</summary>
      {/* Focusable, so that it can be scrolled by keyboard. */}
      <Code block tabIndex={0}>
        {JSON.stringify(data, null, 2)}
      </Code>
    </details>
  );
}
