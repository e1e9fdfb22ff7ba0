/** Signing secrets: create and rotate. A value is shown only once. */
import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import { type AnswerOf, call } from '../../api/client.ts';
import type { webhooks } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { ShownOnce } from '../../ui/shown-once.tsx';
import { Time } from '../../ui/time.tsx';
import { missingTexts } from '../config/missing.tsx';
import { type Secret, secretsKey, secretsQuery } from './queries.ts';
import { texts } from './texts.ts';
import { isActive, isArchived } from '../../../../src/contract/state.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { useDialogWarning } from '../../ui/form.tsx';

type Shown = AnswerOf<typeof webhooks.createSecret>;

export function SecretsTable() {
  const t = useText(texts);
  const { data, error, refetch } = useQuery(secretsQuery);
  const [creating, setCreating] = useState(false);
  const [rotating, setRotating] = useState<Secret>();
  const columns = useSecretColumns();
  const missing = useText(missingTexts);
  const rotation = (row: Secret): ReactNode =>
    isActive(row) && (
      <Button size="compact-xs" variant="default" onClick={() => setRotating(row)}>
        {t.rotate}
      </Button>
    );
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed">
          {t.secretsHint}
        </Text>
        <Button variant="default" onClick={() => setCreating(true)}>
          {t.createSecret}
        </Button>
      </Group>
      <FaultAlert error={error} retry={() => void refetch()} />
      <DataTable
        label={t.secrets}
        columns={columns}
        rows={data}
        rowKey={(row) => row.id}
        empty={missing.signingSecrets}
        rowActions={rotation}
      />
      <SecretDialogs creating={creating} setCreating={setCreating} rotating={rotating} setRotating={setRotating} />
    </Stack>
  );
}

function useSecretColumns() {
  const t = useText(texts);
  return useMemo(
    (): Column<Secret>[] => [
      {
        key: 'code',
        title: t.code,
        value: (row) => (isArchived(row) ? `${row.code} (${t.archivedSecret})` : row.code),
      },
      { key: 'value', title: t.value, value: (row) => (row.hasValue ? t.hasValue : t.noValue) },
      {
        key: 'createdAt',
        title: t.createdAt,
        value: (row) => row.createdAt ?? '',
        render: (row) => (row.createdAt === null ? '' : <Time at={row.createdAt} />),
        minor: true,
      },
      {
        key: 'previous',
        title: t.previousUntil,
        value: (row) => row.previousUntil ?? '',
        render: (row) => (row.previousUntil === null ? '' : <Time at={row.previousUntil} absolute />),
        minor: true,
      },
    ],
    [t],
  );
}

interface SecretDialogsProps {
  creating: boolean;
  setCreating: (next: boolean) => void;
  rotating: Secret | undefined;
  setRotating: (secret: Secret | undefined) => void;
}

/** Dialogs for a new secret, for a rotation, and for the secret itself, which is shown only once. */
function SecretDialogs({ creating, setCreating, rotating, setRotating }: SecretDialogsProps) {
  const t = useText(texts);
  const [shown, setShown] = useState<Shown>();
  return (
    <>
      <Dialog opened={creating} onClose={() => setCreating(false)} title={t.createSecret}>
        <NewSecret
          onMade={(made) => {
            setCreating(false);
            setShown(made);
          }}
        />
      </Dialog>
      <Dialog
        opened={rotating !== undefined}
        onClose={() => setRotating(undefined)}
        title={t.rotateTitle(rotating?.code ?? '')}
      >
        {rotating !== undefined && (
          <Rotation
            secret={rotating}
            onMade={(made) => {
              setRotating(undefined);
              setShown(made);
            }}
          />
        )}
      </Dialog>
      <Dialog
        opened={shown !== undefined}
        onClose={() => setShown(undefined)}
        title={t.secretFor(shown?.code ?? '')}
        closeOnClickOutside={false}
        closeOnEscape={false}
        size="lg"
      >
        {shown !== undefined && (
          <Stack gap="md">
            <ShownOnce label={t.secretFor(shown.code)} secret={shown.secret} />
            <Group justify="flex-end">
              <Button onClick={() => setShown(undefined)}>{t.done}</Button>
            </Group>
          </Stack>
        )}
      </Dialog>
    </>
  );
}

function NewSecret({ onMade }: { onMade: (made: Shown) => void }) {
  const t = useText(texts);
  const [code, setCode] = useState('');
  useDialogWarning(code !== '');
  const create = useAction({
    run: () => call<typeof webhooks.createSecret>('POST', '/signing-secrets', { body: { code: code.trim() } }),
    touches: [secretsKey],
    after: onMade,
    quiet: true,
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate();
      }}
    >
      <Stack gap="sm">
        <FaultAlert error={create.error} />
        <TextInput
          label={t.code}
          description={t.codeHint}
          required
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
          data-autofocus
        />
        <Group justify="flex-end">
          <Button type="submit" loading={create.isPending} disabled={code.trim() === ''}>
            {t.createSecret}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Rotation({ secret, onMade }: { secret: Secret; onMade: (made: Shown) => void }) {
  const t = useText(texts);
  const [overlap, setOverlap] = useState('P1D');
  const rotate = useAction({
    run: () =>
      call<typeof webhooks.rotateSecret>('POST', `/signing-secrets/${encodeURIComponent(secret.code)}/rotate`, {
        body: { overlap },
      }),
    touches: [secretsKey],
    after: onMade,
    quiet: true,
  });
  return (
    <Stack gap="sm">
      <FaultAlert error={rotate.error} />
      <Text size="sm">{t.rotateBody}</Text>
      <Select
        label={t.overlap}
        allowDeselect={false}
        data={[
          { value: 'PT0S', label: t.overlapNone },
          { value: 'PT1H', label: t.overlapHour },
          { value: 'P1D', label: t.overlapDay },
          { value: 'P7D', label: t.overlapWeek },
        ]}
        value={overlap}
        onChange={(next) => setOverlap(next ?? 'PT0S')}
      />
      <Group justify="flex-end">
        <Button
          color={overlap === 'PT0S' ? 'red' : 'petrol'}
          loading={rotate.isPending}
          onClick={() => rotate.mutate()}
        >
          {t.rotate}
        </Button>
      </Group>
    </Stack>
  );
}
