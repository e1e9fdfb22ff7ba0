/** Roles: the matrix and editor of each, and an explanation of a user's permissions, in general or on a record. */
import { Button } from '@mantine/core';
import { IconEye } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useHas } from '../../app/session.ts';
import { useText } from '../../i18n/text.ts';
import { Panel, type ScreenProps } from '../../ui/page.tsx';
import { ConfigScreen } from '../config/config-screen.tsx';
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
  // Grants are identified by their index.
  const grants = grantsOf(item).map((grant, index) => ({ ...grant, key: String(index) }));
  return (
    <Panel title={t.onRecords}>{grants.length === 0 ? t.noRecords : <Matrix grants={grants} label={t.matrix} />}</Panel>
  );
}

export default function RolesPage({ path }: ScreenProps) {
  const t = useText(texts);
  const has = useHas();
  const navigate = useNavigate();
  const edits = has('config.manage');
  // Users who may assign roles but not change configuration see only the explanation.
  if (path[0] === '_person' || !edits) return <Explanation userId={path[1] ?? null} objectId={path[2] ?? null} />;
  return (
    <ConfigScreen
      section="roles"
      screen="roles"
      path={path}
      title={t.title}
      hint={t.hint}
      newTitle={t.create}
      template={TEMPLATE}
      form={RoleForm}
      aside={RoleMatrix}
      asideAbove
      actions={
        <Button
          variant="default"
          leftSection={<IconEye size={14} />}
          onClick={() => void navigate({ to: '/admin/$', params: { _splat: 'roles/_person' } })}
        >
          {t.viewAs}
        </Button>
      }
    />
  );
}
