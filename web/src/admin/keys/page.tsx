/** API keys: owner and last use; issue, rotate and revoke. A secret is shown only once. */
import { ActionIcon, Button, Group, Menu, Select, Stack, Switch, Text, Tooltip } from '@mantine/core';
import { IconDots, IconRefresh, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import { type AnswerOf, call } from '../../api/client.ts';
import type { access } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, type ScreenProps } from '../../ui/page.tsx';
import { ShownOnce } from '../../ui/shown-once.tsx';
import { CreateButton } from '../config/missing.tsx';
import { texts as uiTexts } from '../../ui/texts.ts';
import { Time } from '../../ui/time.tsx';
import { Mark } from '../config/mark.tsx';
import { NewKey } from './new-key.tsx';
import { texts } from './texts.ts';
import { Dialog } from '../../ui/dialog.tsx';

function stateOf(key: Key): 'revoked' | 'expired' | 'active' {
  if (key.revokedAt !== null) return 'revoked';
  return key.expiresAt !== null && Date.parse(key.expiresAt) <= Date.now() ? 'expired' : 'active';
}

const TONES = { active: 'good', expired: 'warn', revoked: 'off' } as const;

export default function KeysPage({ path }: ScreenProps) {
  return path[0] === 'new' ? <NewKey /> : <KeyList />;
}

function KeyList() {
  const t = useText(texts);
  const navigate = useNavigate();
  const [revoked, setRevoked] = useState(false);
  const [rotating, setRotating] = useState<Key>();
  const keys = useQuery({
    queryKey: ['keys'],
    queryFn: ({ signal }) => call<typeof access.listKeys>('GET', '/keys', { signal }),
  });
  const revoke = useAction({
    run: (id: string) => call<typeof access.revokeKey>('POST', `/keys/${id}/revoke`),
    touches: [['keys']],
    done: t.revokedDone,
  });
  const askRevoke = async (key: Key): Promise<void> => {
    const question = { title: t.revokeTitle(key.name), body: t.revokeBody, yes: t.revoke, danger: true };
    if (await confirm(question)) revoke.mutate(key.id);
  };
  const columns = useKeyColumns();
  const actions = (row: Key): ReactNode =>
    row.revokedAt === null && (
      <KeyMenu keyRow={row} rotate={() => setRotating(row)} revoke={() => void askRevoke(row)} />
    );
  const create = {
    label: t.create,
    onClick: () => void navigate({ to: '/admin/$', params: { _splat: 'keys/new' } }),
  };
  const rows = keys.data?.filter((key) => revoked || key.revokedAt === null);
  return (
    <Page title={t.title} hint={t.hint} actions={<CreateButton {...create} />}>
      <FaultAlert error={keys.error} retry={() => void keys.refetch()} />
      <DataTable
        label={t.title}
        columns={columns}
        rows={rows}
        rowKey={(row) => row.id}
        empty={t.none}
        emptyAction={<CreateButton {...create} />}
        tools={
          keys.data?.some((key) => key.revokedAt !== null) === true && (
            <Switch
              label={t.showRevoked}
              checked={revoked}
              onChange={(event) => setRevoked(event.currentTarget.checked)}
            />
          )
        }
        rowActions={actions}
      />
      {rotating !== undefined && <RotateDialog keyRow={rotating} close={() => setRotating(undefined)} />}
    </Page>
  );
}

function useKeyColumns() {
  const t = useText(texts);
  return useMemo(
    (): Column<Key>[] => [
      { key: 'name', title: t.name, value: (row) => row.name },
      { key: 'owner', title: t.owner, value: (row) => row.owner },
      {
        key: 'prefix',
        title: t.prefix,
        value: (row) => row.prefix,
        render: (row) => <code title={row.prefix}>{row.prefix.slice(0, 11)}…</code>,
        minor: true,
      },
      {
        key: 'scopes',
        title: t.scopes,
        value: (row) => row.scopes.join(' '),
        render: (row) => (
          <Tooltip label={row.scopes.join(', ')} multiline maw="22rem">
            <span>{t.scopeCount(row.scopes.length)}</span>
          </Tooltip>
        ),
        minor: true,
      },
      {
        key: 'expires',
        title: t.expires,
        value: (row) => row.expiresAt ?? '',
        render: (row) => (row.expiresAt === null ? t.never : <Time at={row.expiresAt} absolute />),
        minor: true,
      },
      {
        key: 'used',
        title: t.lastUsed,
        value: (row) => row.lastUsedAt ?? '',
        render: (row) => (row.lastUsedAt === null ? t.unused : <Time at={row.lastUsedAt} />),
        minor: true,
      },
      {
        key: 'state',
        title: t.state,
        value: (row) => t[stateOf(row)],
        render: (row) => <Mark tone={TONES[stateOf(row)]}>{t[stateOf(row)]}</Mark>,
      },
    ],
    [t],
  );
}

function KeyMenu({ keyRow, rotate, revoke }: { keyRow: Key; rotate: () => void; revoke: () => void }) {
  const t = useText(texts);
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon aria-label={t.actions(keyRow.name)}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconRefresh size={14} />} onClick={rotate}>
          {t.rotate}
        </Menu.Item>
        <Menu.Item leftSection={<IconTrash size={14} />} onClick={revoke}>
          {t.revoke}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

export function RotateDialog({ keyRow, close }: { keyRow: Key; close: () => void }) {
  const t = useText(texts);
  const ui = useText(uiTexts);
  const [overlap, setOverlap] = useState('PT0S');
  const rotate = useAction({
    run: () => call<typeof access.rotateKey>('POST', `/keys/${keyRow.id}/rotate`, { body: { overlap } }),
    touches: [['keys']],
    quiet: true,
  });
  return (
    <Dialog opened onClose={close} title={t.rotateTitle(keyRow.name)}>
      <Stack gap="md">
        {rotate.data === undefined ? (
          <>
            <Text size="sm">{t.rotateBody}</Text>
            <Select
              label={t.overlap}
              data={[
                { value: 'PT0S', label: t.overlap0 },
                { value: 'PT1H', label: t.overlap1h },
                { value: 'P1D', label: t.overlap1d },
                { value: 'P7D', label: t.overlap7d },
              ]}
              value={overlap}
              allowDeselect={false}
              onChange={(value) => setOverlap(value ?? 'PT0S')}
            />
            <FaultAlert error={rotate.error} />
            <Group justify="flex-end" gap="xs">
              <Button variant="default" onClick={close}>
                {ui.cancel}
              </Button>
              <Button loading={rotate.isPending} onClick={() => rotate.mutate()}>
                {t.rotate}
              </Button>
            </Group>
          </>
        ) : (
          <>
            <ShownOnce label={t.rotated} secret={rotate.data.key} />
            <Group justify="flex-end">
              <Button onClick={close}>{ui.done}</Button>
            </Group>
          </>
        )}
      </Stack>
    </Dialog>
  );
}

export type Key = AnswerOf<typeof access.listKeys>[number];
