/** Roles: what each gives, as a matrix and to be edited; and what a person may do, at large or with a record, and why. */
import { Button, Group } from '@mantine/core';
import { IconEye, IconPlus } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useHas } from '../../app/session.ts';
import { useText } from '../../i18n/text.ts';
import type { ScreenProps } from '../../screens.ts';
import { Page, Panel } from '../../ui/page.tsx';
import { ConfigScreen, SectionTable } from '../config/config-screen.tsx';
import type { ItemValue } from '../config/yaml-text.ts';
import { Explanation } from './explanation.tsx';
import { Matrix } from './matrix.tsx';
import { grantsOf } from './model.ts';
import { RoleForm } from './role-form.tsx';
import { texts } from './texts.ts';

const TEMPLATE = `code: my-role
name:
  ru-RU: Новая роль
  en-US: New role
rights: []
records:
  - type: incident
    actions: [read]
    fields: { read: '*' }
assignedTo: { users: [], groups: [] }
`;

function RoleMatrix({ item }: { item: ItemValue }) {
  const t = useText(texts);
  // A grant has no identity but its place.
  const grants = grantsOf(item).map((grant, index) => ({ ...grant, key: String(index) }));
  return (
    <Panel title={t.onRecords}>{grants.length === 0 ? t.noRecords : <Matrix grants={grants} label={t.matrix} />}</Panel>
  );
}

export default function RolesPage({ path }: ScreenProps) {
  const t = useText(texts);
  const has = useHas();
  const navigate = useNavigate();
  const go = (rest: string): void => void navigate({ to: '/admin/$', params: { _splat: `roles${rest}` } });
  const edits = has('config.manage');
  // Who may assign roles and not change the configuration still may ask who may do what.
  if (path[0] === '_person' || !edits) return <Explanation userId={path[1] ?? null} objectId={path[2] ?? null} />;
  if (path.length > 0) {
    return (
      <ConfigScreen
        section="roles"
        screen="roles"
        path={path}
        title={t.title}
        newTitle={t.create}
        template={TEMPLATE}
        form={RoleForm}
        aside={RoleMatrix}
        asideAbove
      />
    );
  }
  return (
    <Page
      title={t.title}
      hint={t.hint}
      actions={
        <Group gap="xs">
          <Button variant="default" leftSection={<IconEye size={14} />} onClick={() => go('/_person')}>
            {t.viewAs}
          </Button>
          <Button leftSection={<IconPlus size={14} />} onClick={() => go('/new')}>
            {t.create}
          </Button>
        </Group>
      }
    >
      <SectionTable section="roles" label={t.roles} onOpen={(code) => go(`/${encodeURIComponent(code)}`)} />
    </Page>
  );
}
