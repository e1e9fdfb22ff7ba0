/** One entry of a list in an item: a heading that opens for editing. */
import { Button, Group, Stack } from '@mantine/core';
import { IconChevronRight, IconTrash } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useText } from '../../i18n/text.ts';
import classes from './form-parts.module.css';
import { texts } from './texts.ts';

interface BlockProps {
  name: string;
  code: string;
  /** Shown beside the name. */
  mark?: ReactNode;
  startsOpen?: boolean;
  remove: () => void;
  children: ReactNode;
}

export function Block({ name, code, mark, startsOpen = false, remove, children }: BlockProps) {
  const t = useText(texts);
  const [open, setOpen] = useState(startsOpen);
  return (
    <li className={classes.block}>
      <button type="button" className={classes.blockHead} aria-expanded={open} onClick={() => setOpen(!open)}>
        <IconChevronRight size={14} className={classes.chevron} />
        <span>{name}</span>
        <code>{code}</code>
        {mark}
      </button>
      {open && (
        <Stack gap="sm" className={classes.blockBody}>
          {children}
          <Group>
            <Button
              variant="default"
              leftSection={<IconTrash size={14} />}
              aria-label={`${t.takeOut}: ${name}`}
              onClick={remove}
            >
              {t.takeOut}
            </Button>
          </Group>
        </Stack>
      )}
    </li>
  );
}

/** `stem-1`, or the next unused number. */
export function freeCode(stem: string, taken: readonly { code: string }[]): string {
  for (let number = 1; ; number++) {
    const code = `${stem}-${number}`;
    if (!taken.some((one) => one.code === code)) return code;
  }
}

/** The list members that have a code; incomplete ones are omitted. */
export function codedOf<T extends { code: string }>(value: unknown): T[] {
  if (!Array.isArray(value)) return [];
  return value.filter(
    (one): one is T => typeof one === 'object' && one !== null && typeof (one as { code?: unknown }).code === 'string',
  );
}
