/** Exports a list. The menu is loaded on first use. */
import { ActionIcon } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { useText } from '../../i18n/text.ts';
import { OnFirstUse } from '../../ui/on-first-use.tsx';
import type { ExportMenuProps } from './export-menu.tsx';
import { texts } from './texts.ts';

const load = async () => (await import('./export-menu.tsx')).ExportMenu;

export function ExportButton(list: ExportMenuProps) {
  const t = useText(texts);
  const [opened, setOpened] = useState(false);
  return (
    <OnFirstUse popup="menu" load={load} more={list} opened={opened} onOpened={setOpened}>
      <ActionIcon variant="default" size={30} aria-label={t.export} title={t.export} disabled={list.rows.length === 0}>
        <IconDownload size={16} />
      </ActionIcon>
    </OnFirstUse>
  );
}
