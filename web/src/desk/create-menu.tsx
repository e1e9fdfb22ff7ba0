/** Menu of record types that the user may create; the shortcut Shift+C opens it. */
import { Menu } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { texts as appTexts } from '../app/texts.ts';
import { useText } from '../i18n/text.ts';
import type { DeskType } from './queries.ts';

export function CreateMenu({ types, children }: { types: readonly DeskType[]; children: ReactNode }) {
  const t = useText(appTexts);
  const [opened, menu] = useDisclosure(false);
  const creatable = types.filter((type) => type.canCreate);
  useHotkeys([['shift+C', menu.open, { usePhysicalKeys: true }]]);
  if (creatable.length === 0) return null;
  const group = (category: DeskType['category']) => creatable.filter((type) => type.category === category);
  const dictionaries = group('dictionary');
  return (
    <Menu opened={opened} onChange={(open) => (open ? menu.open() : menu.close())} position="bottom-start" width={240}>
      <Menu.Target>{children}</Menu.Target>
      <Menu.Dropdown>
        {group('object').map((type) => (
          <CreateItem key={type.id} type={type} />
        ))}
        {dictionaries.length > 0 && <Menu.Label>{t.dictionaries}</Menu.Label>}
        {dictionaries.map((type) => (
          <CreateItem key={type.id} type={type} />
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function CreateItem({ type }: { type: DeskType }) {
  return (
    <Menu.Item renderRoot={(props) => <Link {...props} to="/new/$typeCode" params={{ typeCode: type.code }} />}>
      {type.name}
    </Menu.Item>
  );
}
