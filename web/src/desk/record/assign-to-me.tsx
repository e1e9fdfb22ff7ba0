/** Assigns the record to the user, by a button or the key A. */
import { Button } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconUserCheck } from '@tabler/icons-react';
import { call } from '../../api/client.ts';
import type { DocketRecord, FieldSchema, objects } from '../../api/types.ts';
import { useRecordCommand } from '../../app/record-commands.ts';
import { useSession } from '../../app/session.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { recordKey } from '../queries.ts';
import { texts } from '../texts.ts';

/** The field that names the assignee, if the user may write it. */
export function assigneeField(fields: readonly FieldSchema[]): FieldSchema | undefined {
  return fields.find(
    ({ code, dataType, multiple, readOnly }) =>
      code === 'assignee' && dataType === 'user' && multiple !== true && !readOnly,
  );
}

/** `disabled`: the record has unsaved changes, which must be saved first. */
export function AssignToMe({ record, disabled }: { record: DocketRecord; disabled: boolean }) {
  const t = useText(texts);
  const { user } = useSession();
  const assign = useAction({
    run: () =>
      call<typeof objects.updateObject>('PATCH', `/objects/${record.id}`, {
        body: { expectedRevision: record.revision, changes: { assignee: user.id } },
      }),
    touches: [recordKey(record.id), ['records']],
    done: t.saved,
  });
  const mine = record.values['assignee'] === user.id;
  const run = (): void => {
    if (!disabled && !mine && !assign.isPending) assign.mutate();
  };
  useRecordCommand(mine ? undefined : { key: 'assign', name: t.assignToMe, run });
  useHotkeys([['A', run, { usePhysicalKeys: true }]]);
  if (mine) return null;
  return (
    <Button
      variant="default"
      leftSection={<IconUserCheck size={14} />}
      onClick={run}
      disabled={disabled}
      loading={assign.isPending}
      aria-keyshortcuts="a"
    >
      {t.assignToMe}
    </Button>
  );
}
