/** Mentions in a comment: `@` and letters offer people by name or login; the chosen one is written as `@login`. */
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, type ReactNode, type RefObject, useId, useLayoutEffect, useRef, useState } from 'react';
import { type AnswerOf, call } from '../../api/client.ts';
import type { deskRecord } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { Options } from '../../ui/option-list.tsx';
import { PersonMark } from '../../ui/person.tsx';
import { actionTexts } from './action-texts.ts';
import classes from './macros.module.css';

const TYPED = /(?:^|[\s(])@([\p{L}\p{N}._-]{0,40})$/u;

type Person = AnswerOf<typeof deskRecord.listMentionable>[number];

interface Typed {
  /** Place of the `@` in the text. */
  from: number;
  q: string;
}

export interface Mentions {
  /** Looks for a mention before the cursor. Call it when the text or the cursor changes. */
  look: () => void;
  /** Returns true if the list of people used the key. */
  key: (event: KeyboardEvent) => boolean;
  list: ReactNode;
  /** For the text area while the list is open. */
  aria: Readonly<Record<string, string>>;
}

/** @param recordId undefined: no mentions are offered */
export function useMentions(
  recordId: string | undefined,
  input: RefObject<HTMLTextAreaElement | null>,
  onChange: (body: string) => void,
): Mentions {
  const id = useId();
  const [typed, setTyped] = useState<Typed>();
  const [cursor, setCursor] = useState(0);
  const people = usePeople(recordId, typed?.q);
  // Before the next key: it must be typed after the mention.
  const caret = useRef<number>(undefined);
  useLayoutEffect(() => {
    if (caret.current !== undefined) input.current?.setSelectionRange(caret.current, caret.current);
    caret.current = undefined;
  });
  const open = typed !== undefined && people.length > 0;
  const at = Math.min(cursor, people.length - 1);
  const choose = (person: Person | undefined): void => {
    const area = input.current;
    if (person === undefined || !person.canRead || area === null || typed === undefined) return;
    const before = `${area.value.slice(0, typed.from)}@${person.login} `;
    onChange(before + area.value.slice(area.selectionStart));
    setTyped(undefined);
    caret.current = before.length;
  };
  const look = (): void => {
    const area = input.current;
    // After a choice the text area still shows the text before it.
    if (recordId === undefined || area === null || caret.current !== undefined) return;
    const found = TYPED.exec(area.value.slice(0, area.selectionStart));
    const q = found?.[1];
    const next = q === undefined ? undefined : { from: area.selectionStart - q.length - 1, q };
    if (next?.from === typed?.from && next?.q === typed?.q) return;
    setTyped(next);
    setCursor(0);
  };
  const key = (event: KeyboardEvent): boolean => {
    if (!open || event.ctrlKey || event.metaKey) return false;
    const chooses = event.key === 'Enter' || event.key === 'Tab';
    // Who may not read the record cannot be chosen: the key does what it does without the list.
    if (chooses && people[at]?.canRead !== true) {
      setTyped(undefined);
      return false;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setCursor((at + step + people.length) % people.length);
    else if (chooses) choose(people[at]);
    else if (event.key === 'Escape') setTyped(undefined);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  const list = open ? <People id={id} people={people} at={at} onChoose={choose} onPoint={setCursor} /> : null;
  const aria: Record<string, string> = open ? { 'aria-controls': id, 'aria-activedescendant': `${id}-${at}` } : {};
  return { look, key, list, aria };
}

/** Users by name or login; those who may read the record come first. */
function usePeople(recordId: string | undefined, q: string | undefined): Person[] {
  const { data = [] } = useQuery({
    queryKey: ['mentionable', recordId, q],
    queryFn: ({ signal }) =>
      call<typeof deskRecord.listMentionable>('GET', `/objects/${recordId}/mentionable`, { query: { q }, signal }),
    enabled: q !== undefined && recordId !== undefined,
    staleTime: 60_000,
  });
  return data;
}

interface PeopleProps {
  id: string;
  people: readonly Person[];
  at: number;
  onChoose: (person: Person) => void;
  onPoint: (index: number) => void;
}

function People({ people, ...props }: PeopleProps) {
  const t = useText(actionTexts);
  return (
    <div className={classes.people}>
      <Options
        {...props}
        label={t.mention}
        options={people}
        keyOf={({ id }) => id}
        isDisabled={({ canRead }) => !canRead}
        render={(person) => (
          <span>
            <PersonMark name={person.name} size={18} /> {person.name}{' '}
            <Text size="xs" c="dimmed" span>
              {[`@${person.login}`, person.unit, person.canRead ? null : t.cannotRead].filter(Boolean).join(' · ')}
            </Text>
          </span>
        )}
      />
    </div>
  );
}
