/** Menu of record types that the user may create; the shortcut Shift+C opens it. */
import { useHotkeys } from '@mantine/hooks';
import { type ReactElement, useState } from 'react';
import { OnFirstUse } from '../ui/on-first-use.tsx';
import type { DeskType } from './queries.ts';

const load = async () => (await import('./create-dropdown.tsx')).CreateDropdown;

export function CreateMenu({ types, children }: { types: readonly DeskType[]; children: ReactElement<object> }) {
  const [opened, setOpened] = useState(false);
  useHotkeys([['shift+C', () => setOpened(true), { usePhysicalKeys: true }]]);
  if (!types.some((type) => type.canCreate)) return null;
  return (
    <OnFirstUse popup="menu" load={load} more={{}} opened={opened} onOpened={setOpened}>
      {children}
    </OnFirstUse>
  );
}
