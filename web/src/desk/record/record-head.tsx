/** Header of a record: number, title, state, transitions and other actions. */
import { ActionIcon, Menu, Text } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { notify } from '../../ui/notify.tsx';
import { useQuery } from '@tanstack/react-query';
import { IconArchive, IconArchiveOff, IconArrowMerge, IconDots, IconLink, IconPencil } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { call, dryRun } from '../../api/client.ts';
import type { DocketRecord, FieldSchema, objects, Transition } from '../../api/types.ts';
import { useRecordCommand } from '../../app/record-commands.ts';
import { FieldInput } from '../../fields/input.tsx';
import { useProblemText } from '../../fields/use-problem-text.ts';
import { useText } from '../../i18n/text.ts';
import { WatchItems } from '../../notifications/watch-item.tsx';
import { useAction } from '../../ui/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import { TypeMark } from '../../ui/type-mark.tsx';
import { QuestionWithPreview } from '../what-if.tsx';
import type { Tried } from '../what-if-answer.tsx';
import { RecordNeighbours } from '../list/neighbours.tsx';
import { type DeskType, mergeQuery, recordKey } from '../queries.ts';
import { texts } from '../texts.ts';
import { actionTexts } from './action-texts.ts';
import { ArticleFromRecord } from './article-from-record.tsx';
import { AssignToMe } from './assign-to-me.tsx';
import type { RecordDraft } from './draft.ts';
import classes from './record.module.css';
import { StateBadge } from './state-badge.tsx';
import { TransitionPreviews, Transitions } from './transitions.tsx';
import { isArchived } from '../../../../src/contract/state.ts';

const MergeDialog = lazy(() => import('./merge-dialog.tsx'));

export interface RecordHeadProps {
  record: DocketRecord;
  type: DeskType | undefined;
  titleField: FieldSchema | undefined;
  draft: RecordDraft;
  /** True if the record has an assignee that the user may change. */
  assign: boolean;
  /** Checks whether an action is possible now; false for all on an archived record. */
  can: (action: string) => boolean;
  /** Actions allowed by the user's rights, even if the record is archived. */
  actions: readonly string[];
}

export function RecordHead({ record, type, titleField, draft, assign, can, actions }: RecordHeadProps) {
  const t = useText(texts);
  const [chosen, setChosen] = useState<Transition>();
  const isChanged = draft.count > 0;
  return (
    <header className={classes.head} data-record-head>
      <div className={classes.crumbs}>
        {type !== undefined && (
          <>
            <TypeMark code={type.code} name={type.name} />
            <Link to="/records" search={{ type: type.code }}>
              {type.name}
            </Link>
          </>
        )}
        {record.number !== null && <span className="tabular">{record.number}</span>}
        {record.workflowState !== null && <StateBadge state={record.workflowState} />}
        {isArchived(record) && <StateBadge state={{ name: t.archived, category: 'done' }} />}
        <RecordNeighbours recordId={record.id} />
      </div>
      <div className={classes.titleRow}>
        <div className={classes.title}>
          {titleField !== undefined && (draft.has(titleField.code) || can('update')) && !titleField.readOnly ? (
            <TitleLine record={record} field={titleField} draft={draft} />
          ) : (
            <h1>{record.title ?? record.number ?? t.hiddenTitle}</h1>
          )}
        </div>
        <div className={classes.actions}>
          {assign && can('update') && <AssignToMe record={record} disabled={isChanged} />}
          {can('transition') && (
            <Transitions record={record} disabled={isChanged} chosen={chosen} setChosen={setChosen} />
          )}
          <RecordMenu record={record} can={can} actions={actions}>
            {can('transition') && <TransitionPreviews record={record} disabled={isChanged} onChoose={setChosen} />}
          </RecordMenu>
        </div>
      </div>
    </header>
  );
}

/** The title, shown as a heading until it is edited. */
function TitleLine({ record, field, draft }: { record: DocketRecord; field: FieldSchema; draft: RecordDraft }) {
  const t = useText(texts);
  const problemText = useProblemText();
  const [open, setOpen] = useState(false);
  const changed = draft.has(field.code);
  useHotkeys([['E', () => setOpen(true), { usePhysicalKeys: true }]]);
  if (open || changed) {
    return (
      <div data-field={field.code} onBlur={() => setOpen(false)} role="presentation">
        <FieldInput
          field={field}
          value={draft.value(field.code)}
          onChange={(value) => {
            setOpen(true);
            draft.set(field.code, value);
          }}
          error={problemText(draft.problems.get(field.code)) ?? draft.refusals.get(field.code)}
          place={{ objectId: record.id }}
          autoFocus={open}
          unlabelled
        />
      </div>
    );
  }
  return (
    <h1 className={classes.heading} data-field={field.code}>
      {record.title ?? record.number ?? t.hiddenTitle}
      <ActionIcon
        className={classes.titlePencil}
        size="sm"
        onClick={() => setOpen(true)}
        aria-label={t.editField(field.name)}
      >
        <IconPencil size={15} />
      </ActionIcon>
    </h1>
  );
}

type MenuProps = Pick<RecordHeadProps, 'record' | 'can' | 'actions'>;

/** @param children further items */
function RecordMenu({ record, can, actions, children }: MenuProps & { children: ReactNode }) {
  const t = useText(texts);
  const ta = useText(actionTexts);
  const [opened, setOpened] = useState(false);
  const [merging, setMerging] = useState(false);
  const mayLink = can('relation.create');
  const { data: offer } = useQuery({ ...mergeQuery(record.id), enabled: mayLink && (opened || merging) });
  const mayMerge = mayLink && offer !== undefined && offer.relation !== null;
  useRecordCommand(mayLink ? { key: 'merge', name: ta.merge, run: () => setMerging(true) } : undefined);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(window.location.href);
    notify({ message: t.copied, autoClose: 2000 });
  };
  return (
    <>
      <Menu opened={opened} onChange={setOpened}>
        <Menu.Target>
          <ActionIcon size={30} variant="default" aria-label={t.recordActions} title={t.recordActions}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconLink size={14} />} onClick={() => void copy()}>
            {t.copyLink}
          </Menu.Item>
          {mayMerge && (
            <Menu.Item leftSection={<IconArrowMerge size={14} />} onClick={() => setMerging(true)}>
              {ta.merge}
            </Menu.Item>
          )}
          <WatchItems recordId={record.id} mayExplain={can('history')} />
          <ArticleFromRecord recordId={record.id} />
          {children}
          <ArchiveItems record={record} can={can} actions={actions} />
          <Menu.Label>
            <Text size="xs" component="span" className="tabular">
              r{record.revision}
            </Text>
          </Menu.Label>
        </Menu.Dropdown>
      </Menu>
      {merging && mayMerge && (
        <Suspense fallback={null}>
          <MergeDialog
            record={record}
            offer={offer}
            mayTell={can('comment.create')}
            onClose={() => setMerging(false)}
          />
        </Suspense>
      )}
    </>
  );
}

/** Archives or restores the record. */
function ArchiveItems({ record, can, actions }: MenuProps) {
  const t = useText(texts);
  const touches = [recordKey(record.id), ['records']];
  const path = `/objects/${record.id}`;
  const body = { expectedRevision: record.revision };
  const archive = useAction({
    run: () => call<typeof objects.archiveObject>('DELETE', path, { body }),
    touches,
    done: t.archived,
  });
  const restore = useAction({
    run: () => call<typeof objects.restoreObject>('POST', `/objects/${record.id}/restore`),
    touches,
    done: t.restored,
  });
  const start = async (): Promise<void> => {
    const ask = (): Promise<Tried> => dryRun<typeof objects.archiveObject>('DELETE', path, { body });
    const question = (
      <QuestionWithPreview ask={ask} typeId={record.typeDefinitionId}>
        {t.archiveBody}
      </QuestionWithPreview>
    );
    if (await confirm({ title: t.archiveTitle, body: question, yes: t.archive, danger: true })) archive.mutate();
  };
  if (can('archive')) {
    return (
      <Menu.Item leftSection={<IconArchive size={14} />} color="red" onClick={() => void start()}>
        {t.archive}
      </Menu.Item>
    );
  }
  if (!isArchived(record) || !actions.includes('archive')) return null;
  return (
    <Menu.Item leftSection={<IconArchiveOff size={14} />} onClick={() => restore.mutate()}>
      {t.restore}
    </Menu.Item>
  );
}
