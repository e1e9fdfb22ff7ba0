/**
 * Editor of one configuration item: an optional form, the text, live validation, the plan and the apply button. All
 * configuration screens use it.
 */
import { Button, Group, Loader, SegmentedControl, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type ComponentType, useEffect, useMemo, useRef, useState } from 'react';
import { ApiFault } from '../../api/client.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { useUnsavedWarning } from '../../ui/form.tsx';
import { Panel } from '../../ui/page.tsx';
import { applyChecked } from './apply-checked.tsx';
import { CodeEditor, type CodeEditorHandle } from './code-editor.tsx';
import { ProblemList } from './problem-list.tsx';
import classes from './item-editor.module.css';
import { EditedItem } from './part-code.tsx';
import { PlanView } from './plan-view.tsx';
import { type BundleBody, marksOf, problemsOf, itemQuery, planQuery } from './queries.ts';
import { ImpactView } from './impact-view.tsx';
import { Notice } from './mark.tsx';
import { texts } from './texts.ts';
import { bundleOf, edited, problemInItem, type ItemValue, type Path, type Shape, valueOf } from './yaml-text.ts';
import { isArchived } from '../../../../src/contract/state.ts';

/** Props of an item form. */
export interface ItemFormProps {
  /** The item parsed from the text; `{}` while the text is invalid. */
  item: ItemValue;
  /** Sets a value at a path of the item; undefined removes it. */
  set: (path: Path, value: unknown) => void;
  /** True if the item does not exist yet: its code can still be chosen. */
  isNew: boolean;
}

export type AsideProps = Pick<ItemFormProps, 'item' | 'set'>;

export interface ItemEditorProps {
  /** Section of the bundle. */
  section: string;
  /** Undefined for a new item, which starts with `template`. */
  code?: string | undefined;
  /** Initial text of a new item. */
  template?: string;
  /** The code of an item; by default its `code`. */
  codeOf?: (item: ItemValue) => string;
  /** True if the section is one mapping (settings). */
  map?: boolean;
  /** Form of the common properties; without it, only the text is shown. */
  form?: ComponentType<ItemFormProps>;
  /** Shown beside the editor, from the current text: a preview, or an editable graph. */
  aside?: ComponentType<AsideProps>;
  /** Shown above the editor at full width. */
  asideAbove?: boolean;
  /** Called after a successful apply with the stored code. */
  onApplied?: (code: string) => void;
}

export function ItemEditor(props: ItemEditorProps) {
  const { section, code } = props;
  const stored = useQuery({ ...itemQuery(section, code ?? ''), enabled: code !== undefined });
  if (code !== undefined && stored.data === undefined) {
    return stored.error === null ? (
      <Loader size="sm" m="md" />
    ) : (
      <FaultAlert error={stored.error} retry={() => void stored.refetch()} />
    );
  }
  // A new text from the service resets the editor.
  const start = stored.data?.text ?? props.template ?? 'code: ';
  const archived = isArchived(stored.data);
  const version = stored.data?.configVersion;
  return (
    <Editor key={`${section} ${code ?? ''} ${start}`} {...props} start={start} archived={archived} version={version} />
  );
}

/** Plans the current text, debounced. */
function usePlan(shape: Shape, text: string, start: string, wanted: boolean) {
  const [settled] = useDebouncedValue(text, 500);
  const body = useMemo(() => bundleOf(shape, settled), [shape, settled]);
  const asked = wanted || settled !== start;
  const plan = useQuery({ ...planQuery(body), enabled: asked });
  const fault = plan.error instanceof ApiFault ? plan.error : undefined;
  return {
    body,
    version: plan.data?.configVersion,
    changes: (asked ? plan.data?.items : undefined)?.filter((one) => one.action !== 'leave') ?? [],
    checking: text !== settled || (asked && plan.isFetching),
    problems: fault === undefined ? [] : problemsOf(fault).map((problem) => problemInItem(shape, problem)),
    // A fault without places is shown as a whole.
    fault: plan.error !== null && (fault === undefined || fault.places.length === 0) ? plan.error : null,
  };
}

interface EditorProps extends ItemEditorProps {
  start: string;
  archived: boolean;
  /** The configuration version of `start`; undefined for a new item. */
  version: number | undefined;
}

type View = 'form' | 'text';

function Editor(props: EditorProps) {
  const { code, archived, map = false, form: Form, aside: Aside } = props;
  const t = useText(texts);
  const edit = useItemText(props);
  const { item, text, set, plan, written, isNew } = edit;
  const [view, setView] = useState<View>(Form === undefined ? 'text' : 'form');
  const handle = useRef<CodeEditorHandle>(null);
  const [target, setTarget] = useState<{ line: number; column: number }>();
  useEffect(() => {
    if (view === 'text' && target !== undefined) handle.current?.goTo(target.line, target.column);
  }, [view, target]);
  const marks = marksOf(plan.problems);
  const form = useMemo(() => ({ saved: edit.saved, item: item ?? {} }), [edit.saved, item]);
  const { changes } = plan;
  const collides = isNew && changes.some((one) => one.code === written && one.action !== 'create');
  const copied = !isNew && !map && item !== undefined && written !== code && written !== '' && !edit.renamed;
  const showsText = view === 'text' || Form === undefined;
  return (
    <div
      className={classes.layout}
      data-aside={Aside === undefined ? undefined : props.asideAbove === true ? 'above' : 'beside'}
    >
      <Stack gap="sm" className={classes.main}>
        <EditorBar edit={edit} view={view} {...(Form === undefined ? {} : { onView: setView })} />
        {archived && <Notice title={t.restoreHint} />}
        {collides && <Notice title={t.taken(written)} />}
        {copied && <Notice title={t.otherCode(written)} />}
        {changes.some(({ version }) => version?.compatible === false) && <Notice title={t.breaks} />}
        {showsText ? (
          <CodeEditor label={t.itemText} value={text} onChange={edit.setText} marks={marks} handle={handle} />
        ) : (
          <Panel>
            <EditedItem value={form}>
              <Form item={form.item} set={set} isNew={isNew} />
            </EditedItem>
          </Panel>
        )}
        <PlanOutcome
          plan={plan}
          isNew={isNew}
          goTo={(line, column) => {
            setView('text');
            setTarget({ line, column });
          }}
        />
        {showsText && (
          <Text size="xs" c="dimmed">
            {t.textHint}
          </Text>
        )}
      </Stack>
      {Aside !== undefined && (
        <div className={classes.aside}>
          <Aside item={item ?? {}} set={set} />
        </div>
      )}
    </div>
  );
}

/** The text of the item, what it says, what applying it would change, and the apply itself. */
function useItemText(props: EditorProps) {
  const { section, code, start, archived, version, codeOf, map = false, onApplied } = props;
  const [text, setText] = useState(start);
  const shape = useMemo((): Shape => ({ section, map }), [section, map]);
  const plan = usePlan(shape, text, start, archived);
  const item = useMemo(() => valueOf(text), [text]);
  const isNew = code === undefined;
  const written = item === undefined ? '' : (codeOf?.(item) ?? String(item['code'] ?? ''));
  const renamed = code !== undefined && [item?.['was']].flat().includes(code);
  const codes = useMemo(() => {
    const first = valueOf(start) ?? {};
    return code === undefined ? { saved: {}, template: first } : { saved: first, template: {} };
  }, [start, code]);
  const dirty = text !== start;
  // After an apply, navigation must not warn about unsaved changes; the text is reset only on the next render.
  const applied = useRef(false);
  useUnsavedWarning(dirty, () => applied.current);
  useEffect(() => {
    if (dirty) applied.current = false;
  }, [dirty, text]);
  const apply = useApply(plan.body, version ?? plan.version ?? 1, (): void => {
    applied.current = true;
    setText(start);
    onApplied?.(renamed ? written : (code ?? written));
  });
  return {
    text,
    setText,
    item,
    written,
    isNew,
    renamed,
    dirty,
    plan,
    apply,
    set: (path: Path, value: unknown): void => setText((now) => edited(now, path, value, codes)),
    saved: codes.saved,
    reset: () => setText(start),
  };
}

type ItemText = ReturnType<typeof useItemText>;

interface EditorBarProps {
  edit: ItemText;
  view: View;
  /** Undefined if there is no form. */
  onView?: (view: View) => void;
}

/** The choice of form or text, the state of the check, and the buttons to reset and apply. */
function EditorBar({ edit, view, onView }: EditorBarProps) {
  const t = useText(texts);
  const { plan, apply, dirty } = edit;
  const { changes } = plan;
  const ready = !plan.checking && plan.problems.length === 0 && plan.fault === null && changes.length > 0;
  const ask = async (): Promise<void> => {
    const breaking = changes.some(({ version }) => version?.compatible === false && version.reasons.length > 0);
    const body = (
      <>
        <Text size="sm" mb="sm">
          {t.applyBody(changes.length)}
        </Text>
        <PlanView items={changes} />
        <ImpactView body={plan.body} />
      </>
    );
    if (await confirm({ title: t.applyTitle, body, yes: t.apply, danger: breaking, wide: true })) apply.mutate();
  };
  const status = (): string => {
    if (plan.checking) return t.checking;
    if (plan.problems.length > 0) return t.problems(plan.problems.length);
    return dirty ? t.sound : t.unchanged;
  };
  return (
    <div className={classes.bar}>
      {onView !== undefined && (
        <SegmentedControl
          aria-label={t.view}
          value={view}
          onChange={(next) => onView(next as View)}
          data={[
            { value: 'form', label: t.form, disabled: edit.item === undefined },
            { value: 'text', label: t.text },
          ]}
        />
      )}
      <Text
        size="xs"
        c="dimmed"
        data-wrong={(plan.problems.length > 0 && !plan.checking) || undefined}
        aria-live="polite"
        className={classes.status}
      >
        {status()}
      </Text>
      <Group gap="xs" ml="auto">
        <Button variant="default" disabled={!dirty} onClick={edit.reset}>
          {t.reset}
        </Button>
        <Button disabled={!ready} loading={apply.isPending} onClick={() => void ask()}>
          {t.apply}
        </Button>
      </Group>
    </div>
  );
}

interface PlanOutcomeProps {
  plan: ItemText['plan'];
  isNew: boolean;
  goTo: (line: number, column: number) => void;
}

/** The errors in the text, or what applying it would change. */
function PlanOutcome({ plan, isNew, goTo }: PlanOutcomeProps) {
  const t = useText(texts);
  const { problems, fault, changes } = plan;
  return (
    <>
      {problems.length > 0 && <ProblemList problems={problems} goTo={goTo} />}
      <FaultAlert error={fault} />
      {changes.length > 0 && (
        <Panel title={t.wouldChange}>
          <PlanView items={changes} bare={changes.length === 1 && !isNew} />
        </Panel>
      )}
    </>
  );
}

/** Applies a bundle. All queries are invalidated afterwards, because configuration affects all data shown. */
function useApply(body: BundleBody, expected: number, after: () => void) {
  const t = useText(texts);
  return useAction({ run: () => applyChecked(body, expected, t), touches: [[]], done: t.applied, after });
}
