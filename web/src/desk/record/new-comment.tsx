/** A new comment on a record, with a macro if the user chooses one. Everything is sent in one request. */
import { ActionIcon, Tooltip } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconBolt } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useRef, useState } from 'react';
import {
  type CommentVisibility,
  COMMENT_RIGHTS,
  DEFAULT_VISIBILITY,
  seenVisibilities,
} from '../../../../src/contract/comment-visibility.ts';
import type { RecordAction } from '../../../../src/contract/rights.ts';
import { call } from '../../api/client.ts';
import type { comments, deskRecord, DocketRecord, FieldSchema } from '../../api/types.ts';
import { useRecordCommand } from '../../app/record-commands.ts';
import { isEmpty } from '../../fields/check.ts';
import { useText } from '../../i18n/text.ts';
import { invalidate, useAction } from '../../ui/action.ts';
import { useDeviceDraft } from '../../ui/device-draft.ts';
import { notify } from '../../ui/notify.tsx';
import { type Macro, macrosQuery, recordKey } from '../queries.ts';
import { texts } from '../texts.ts';
import { actionTexts } from './action-texts.ts';
import { changesRecord, ChosenMacro, neededFields } from './chosen-macro.tsx';
import { Composer, type ComposerHandle, type Written } from './composer.tsx';
import { useReplyFiles } from './reply-files.tsx';

const MacroPicker = lazy(() => import('./macro-picker.tsx'));

interface NewCommentProps {
  record: DocketRecord;
  can: (action: RecordAction) => boolean;
  fields: readonly FieldSchema[] | undefined;
}

interface Sent {
  body: string;
  visibility: CommentVisibility;
  attachmentIds: readonly string[];
}

export function NewComment({ record, can, fields }: NewCommentProps) {
  const t = useText(texts);
  const ta = useText(actionTexts);
  // The idempotency key makes a repeated submit create one comment.
  const [key, setKey] = useState(() => crypto.randomUUID());
  const choices = seenVisibilities(can);
  const draft = useDeviceDraft<Written>(`comment.${record.id}`);
  const handle = useRef<ComposerHandle>(null);
  const chosen = useChosenMacro(handle, record.id, fields !== undefined);
  const { macro, values } = chosen;
  const files = useReplyFiles(record.id);
  const send = useSend(record, chosen, key, (attachmentIds) => {
    draft.keep(undefined);
    files.sent(attachmentIds);
    setKey(crypto.randomUUID());
  });
  const needed = macro === undefined ? [] : neededFields(macro, record, t);
  return (
    <>
      <Composer
        key={key}
        draft={draft}
        handle={handle}
        hotkeys
        files={can('attachment.add') ? files : undefined}
        mentions={COMMENT_RIGHTS.every(can) ? record.id : undefined}
        can={can}
        initial=""
        // Users who may not write comments of the default visibility start with the first one that they may write.
        visibility={choices.find((one) => one === DEFAULT_VISIBILITY) ?? choices[0] ?? DEFAULT_VISIBILITY}
        label={t.comment}
        onDiscard={chosen.remove}
        pending={send.isPending}
        error={send.error}
        emptyAllowed={macro !== undefined && macro.comment === null}
        sendText={macro !== undefined && macro.comment === null ? ta.apply : undefined}
        tools={fields !== undefined && <MacroButton onOpen={chosen.open} />}
        below={
          macro !== undefined &&
          fields !== undefined && (
            <ChosenMacro {...chosen} macro={macro} fields={fields} needed={needed} recordId={record.id} />
          )
        }
        onSend={(body, visibility) => {
          if (needed.every(({ code }) => !isEmpty(values[code]))) send.mutate({ ...files.toSend(body), visibility });
          else chosen.setTried(true);
        }}
      />
      {chosen.picking && fields !== undefined && (
        <Suspense fallback={null}>
          <MacroPicker recordId={record.id} fields={fields} onChoose={chosen.choose} onClose={chosen.close} />
        </Suspense>
      )}
    </>
  );
}

/** Sends the comment, or the macro with everything that it does. */
function useSend(
  record: DocketRecord,
  { macro, values, remove }: ReturnType<typeof useChosenMacro>,
  key: string,
  after: (attachmentIds: readonly string[]) => void,
) {
  const t = useText(actionTexts);
  const client = useQueryClient();
  return useAction({
    run: async (sent: Sent): Promise<unknown> =>
      macro === undefined
        ? await call<typeof comments.addComment>('POST', `/objects/${record.id}/comments`, {
            body: commentOf(sent),
            idempotencyKey: key,
          })
        : await applyMacro(record, macro, { ...sent, values, key }),
    done: () => (macro === undefined ? undefined : t.applied),
    // The composer is empty before the new comment appears.
    after: (_answer, { attachmentIds }) => {
      remove();
      after(attachmentIds);
      void invalidate(client, recordKey(record.id));
      if (macro !== undefined) void invalidate(client, ['records']);
    },
    quiet: true,
  });
}

/** Of a comment without files only the text is sent: files need a right of their own. */
function commentOf({ body, visibility, attachmentIds }: Sent) {
  return { body, visibility, ...(attachmentIds.length === 0 ? {} : { attachmentIds: [...attachmentIds] }) };
}

async function applyMacro(
  record: DocketRecord,
  macro: Macro,
  { values, key, ...sent }: Sent & { values: Record<string, unknown>; key: string },
): Promise<unknown> {
  return await call<typeof deskRecord.applyMacro>('POST', `/objects/${record.id}/macros`, {
    body: {
      macroId: macro.id,
      expectedRevision: record.revision,
      ...(sent.body.trim() === '' ? {} : { comment: commentOf(sent) }),
      ...(Object.keys(values).length === 0 ? {} : { values }),
    },
    // Another revision is another decision.
    idempotencyKey: `${key}-${record.revision}`,
  });
}

/** The macro in the composer, the values that it still needs, and the picker. */
function useChosenMacro(handle: React.RefObject<ComposerHandle | null>, recordId: string, enabled: boolean) {
  const t = useText(actionTexts);
  const [picking, setPicking] = useState(false);
  const [chosen, setChosen] = useMacroDraft(recordId, enabled);
  const { macro, values } = chosen;
  const [tried, setTried] = useState(false);
  const clear = (next?: Macro): void => {
    setChosen({ macro: next, values: {} });
    setTried(false);
  };
  const choose = (next: Macro): void => {
    const changes = changesRecord(next);
    clear(changes ? next : undefined);
    setPicking(false);
    handle.current?.prepare(next.comment ?? {});
    if (!changes && next.refused.length > 0) {
      const parts = next.refused.map((part) => t.refused(part)).join(', ');
      notify({ message: t.notPossible(parts), color: 'yellow', autoClose: 6000 });
    }
  };
  return {
    picking,
    macro,
    values,
    tried,
    setTried,
    choose,
    open: () => setPicking(true),
    close: () => setPicking(false),
    remove: () => clear(),
    setValue: (code: string, value: unknown) => setChosen({ macro, values: { ...values, [code]: value } }),
  };
}

interface Chosen {
  macro: Macro | undefined;
  values: Readonly<Record<string, unknown>>;
}

/** The chosen macro with its values. It is kept on this device, like the text of the comment; a macro that is gone is not. */
function useMacroDraft(recordId: string, enabled: boolean): [Chosen, (next: Chosen) => void] {
  const draft = useDeviceDraft<{ macroId: string; values: Chosen['values'] }>(`macro.${recordId}`);
  const [kept] = useState(() => (enabled ? draft.read() : undefined));
  const [chosen, setChosen] = useState<Chosen>();
  const { data } = useQuery({ ...macrosQuery(recordId), enabled: kept !== undefined && chosen === undefined });
  const restored = data?.find((one) => one.id === kept?.macroId && changesRecord(one));
  return [
    chosen ?? { macro: restored, values: restored === undefined ? {} : (kept?.values ?? {}) },
    (next) => {
      setChosen(next);
      draft.keep(next.macro === undefined ? undefined : { macroId: next.macro.id, values: next.values });
    },
  ];
}

function MacroButton({ onOpen }: { onOpen: () => void }) {
  const t = useText(actionTexts);
  useHotkeys([['M', onOpen, { usePhysicalKeys: true }]]);
  useRecordCommand({ key: 'macro', name: `${t.macro}…`, run: onOpen });
  return (
    <Tooltip label={`${t.macro} (M)`}>
      <ActionIcon size="sm" aria-label={t.macro} aria-keyshortcuts="m" onClick={onOpen}>
        <IconBolt size={14} />
      </ActionIcon>
    </Tooltip>
  );
}
