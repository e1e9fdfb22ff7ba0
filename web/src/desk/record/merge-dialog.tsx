/** Merges a duplicate into another record: link, closing transition and a word to the requester, in one request. */
import { Button, Checkbox, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { REPLY_VISIBILITY } from '../../../../src/contract/comment-visibility.ts';
import { type AnswerOf, call } from '../../api/client.ts';
import type { desk, deskRecord, DocketRecord } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { type MergeOffer, recordKey } from '../queries.ts';
import { actionTexts } from './action-texts.ts';
import classes from './macros.module.css';
import { Dialog } from '../../ui/dialog.tsx';
import { useDialogWarning } from '../../ui/form.tsx';

const SHOWN = 8;
const NUMBER = /\{\{\s*number\s*\}\}/g;

type Row = AnswerOf<typeof desk.listDeskObjects>['rows'][number];

/** Records that the text finds; without a text the newest unfinished ones. The record itself is left out. */
function useTargets(record: DocketRecord, types: readonly string[], text: string): Row[] | undefined {
  const [wanted] = useDebouncedValue(text.trim(), 200);
  const unfinished = { field: 'workflowCategory', operator: 'in', value: ['open', 'waiting'] };
  const { data } = useQuery({
    queryKey: ['records', 'merge', types, wanted],
    queryFn: async ({ signal }) => {
      const pages = await Promise.all(
        types.map((typeId) =>
          call<typeof desk.listDeskObjects>('GET', '/desk/objects', {
            query: {
              typeId,
              pageSize: SHOWN + 1,
              ...(wanted === '' ? { filter: JSON.stringify(unfinished) } : { q: wanted }),
            },
            signal,
          }),
        ),
      );
      return pages.flatMap((page) => page.rows);
    },
  });
  if (wanted !== text.trim()) return undefined;
  return data?.filter(({ id }) => id !== record.id).slice(0, SHOWN);
}

interface MergeDialogProps {
  record: DocketRecord;
  offer: MergeOffer;
  /** True if the user may write public comments here. */
  mayTell: boolean;
  onClose: () => void;
}

export default function MergeDialog(props: MergeDialogProps) {
  const t = useText(actionTexts);
  const { record, onClose } = props;
  return (
    <Dialog opened onClose={onClose} title={t.mergeTitle(record.number ?? record.title ?? '')} size="lg">
      <Choice {...props} />
    </Dialog>
  );
}

function Choice({ record, offer, mayTell, onClose }: MergeDialogProps) {
  const t = useText(actionTexts);
  const [text, setText] = useState('');
  const [close, setClose] = useState(offer.transition !== null);
  const [comment, setComment] = useState(mayTell ? t.mergeComment : '');
  useDialogWarning(mayTell && comment !== t.mergeComment);
  const [key] = useState(() => crypto.randomUUID());
  const targets = useTargets(record, offer.relation?.targetTypes ?? [], text);
  const merge = useAction({
    run: (target: Row) => {
      const body = comment.replaceAll(NUMBER, target.number ?? target.title ?? '').trim();
      return call<typeof deskRecord.mergeObject>('POST', `/objects/${record.id}/merge`, {
        body: {
          expectedRevision: record.revision,
          targetObjectId: target.id,
          close,
          ...(body === '' ? {} : { comment: { body, visibility: REPLY_VISIBILITY } }),
        },
        idempotencyKey: `${key}-${target.id}`,
      });
    },
    touches: [recordKey(record.id), ['records']],
    done: t.merged,
    after: onClose,
    quiet: true,
  });
  return (
    <Stack gap="sm">
      <Text size="sm">{t.mergeHint(close ? offer.transition?.to.name : undefined)}</Text>
      {offer.transition !== null && (
        <Checkbox
          label={offer.transition.name}
          checked={close}
          onChange={(event) => setClose(event.currentTarget.checked)}
        />
      )}
      {mayTell && (
        <Textarea
          label={t.mergeTell}
          description={t.mergeCommentHint}
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
          autosize
          minRows={2}
        />
      )}
      <TextInput
        aria-label={t.mergeFind}
        placeholder={t.mergeFind}
        leftSection={<IconSearch size={14} />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        data-autofocus
      />
      <FaultAlert error={merge.error} />
      <Targets text={text} rows={targets} pending={merge.isPending} onChoose={(row) => merge.mutate(row)} />
    </Stack>
  );
}

interface TargetsProps {
  text: string;
  rows: readonly Row[] | undefined;
  pending: boolean;
  onChoose: (row: Row) => void;
}

function Targets({ text, rows, pending, onChoose }: TargetsProps) {
  const t = useText(actionTexts);
  return (
    <div aria-busy={rows === undefined}>
      <Text size="xs" c="dimmed" role="status">
        {rows?.length === 0 ? t.nothing : text.trim() === '' ? t.mergeRecent : t.mergeFound}
      </Text>
      <ul className={classes.results}>
        {(rows ?? []).map((row) => (
          <li key={row.id} className={classes.result}>
            <span>
              {[row.number, row.title].filter(Boolean).join(' · ')}
              <small>{[row.workflowState?.name, row.requester?.name].filter(Boolean).join(' · ')}</small>
            </span>
            <Button
              size="compact-sm"
              variant="default"
              disabled={pending}
              aria-label={t.mergeWith(row.number ?? row.title ?? '')}
              onClick={() => onChoose(row)}
            >
              {t.mergeShort}
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}
