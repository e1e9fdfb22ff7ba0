/** The record types that the user may create, as a menu. */
import { Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { texts as appTexts } from '../app/texts.ts';
import { useText } from '../i18n/text.ts';
import type { DropdownProps } from '../ui/on-first-use.tsx';
import { type DeskType, deskTypesQuery } from './queries.ts';

export function CreateDropdown({ opened, onOpened, children }: DropdownProps) {
  const t = useText(appTexts);
  const { data: types = [] } = useQuery(deskTypesQuery);
  const group = (category: DeskType['category']) =>
    types.filter((type) => type.canCreate && type.category === category);
  const dictionaries = group('dictionary');
  return (
    <Menu opened={opened} onChange={onOpened} position="bottom-start" width={240}>
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
