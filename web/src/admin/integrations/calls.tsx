/** Results of the last calls, with the reasons of rejections. */
import { Anchor, Modal, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useFormats } from '../../i18n/format.ts';
import { useText } from '../../i18n/text.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { FaultAlert, useNotedFaultText } from '../../ui/fault.tsx';
import { Time } from '../../ui/time.tsx';
import { Facts, Raw, ToneMark } from '../connections/tone.tsx';
import { type Call, callsQuery } from './queries.ts';
import { texts } from './texts.ts';

export function CallsTable({ id }: { id: string }) {
  const t = useText(texts);
  const { data, error, refetch } = useQuery(callsQuery(id));
  const say = useNotedFaultText();
  const [open, setOpen] = useState<Call>();
  const columns = useMemo((): Column<Call>[] => {
    const outcome = (row: Call): string => ((row.status as string) === 'SUCCEEDED' ? t.SUCCEEDED : t.FAILED);
    return [
      {
        key: 'at',
        title: t.at,
        value: (row) => row.at,
        render: (row) => <Time at={row.at} absolute />,
        width: '11rem',
      },
      {
        key: 'status',
        title: t.outcome,
        value: outcome,
        render: (row) => <ToneMark tone={row.error === null ? 'good' : 'bad'}>{outcome(row)}</ToneMark>,
        width: '8rem',
      },
      { key: 'reason', title: t.reason, value: (row) => (row.error === null ? '' : say(row.error)) },
      { key: 'owner', title: t.owner, value: (row) => row.owner?.displayName ?? '', minor: true },
    ];
  }, [t, say]);
  return (
    <>
      <FaultAlert error={error} retry={() => void refetch()} />
      <DataTable
        label={t.log}
        columns={columns}
        rows={data}
        rowKey={(row) => row.id}
        onOpen={setOpen}
        empty={t.noRuns}
      />
      <Modal opened={open !== undefined} onClose={() => setOpen(undefined)} title={t.call} size="lg">
        {open !== undefined && <CallDetails made={open} />}
      </Modal>
    </>
  );
}

function CallDetails({ made }: { made: Call }) {
  const t = useText(texts);
  const format = useFormats();
  const { objectId, error } = made;
  return (
    <Stack gap="sm">
      <Facts
        facts={[
          [t.at, format.exact(made.at)],
          [t.owner, made.owner?.displayName ?? ''],
          [t.correlation, made.correlationId],
          ...(objectId === null
            ? []
            : [
                [
                  t.record,
                  <Anchor
                    key="record"
                    size="sm"
                    renderRoot={(props) => <Link to="/records/$recordId" params={{ recordId: objectId }} {...props} />}
                  >
                    {t.open}
                  </Anchor>,
                ] as const,
              ]),
        ]}
      />
      {error !== null && (
        <Raw label={t.reason}>{`${error.code}: ${error.message}\n${JSON.stringify(error.details, null, 2)}`}</Raw>
      )}
    </Stack>
  );
}
