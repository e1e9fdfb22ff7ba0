/** Plan, apply and export of complete configurations, from files or pasted text. */
import { Button, Checkbox, FileButton, Group, Stack, Text } from '@mantine/core';
import { IconDownload, IconFileUpload } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { ApiFault, call } from '../../api/client.ts';
import type { configuration } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { notify } from '../../ui/notify.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { CodeEditor, type CodeEditorHandle } from '../config/code-editor.tsx';
import { ImpactView } from '../config/impact-view.tsx';
import { ProblemList } from '../config/problem-list.tsx';
import { PlanView } from '../config/plan-view.tsx';
import { applyChecked } from '../config/apply-checked.tsx';
import { type BundleBody, marksOf, planBundle, problemsOf } from '../config/queries.ts';
import { texts as configTexts } from '../config/texts.ts';
import classes from './configuration.module.css';
import { History } from './history.tsx';
import { texts } from './texts.ts';

const PASTED = 'pasted.yaml';

interface Named {
  name: string;
  text: string;
}

export default function ConfigurationPage() {
  const t = useText(texts);
  const bundle = useBundle();
  return (
    <Page title={t.title} hint={t.hint}>
      <div className={classes.two}>
        <Bundle bundle={bundle} />
        <Stack gap="md">
          <Export />
          <History onRestore={(version, files) => bundle.restore(version, files)} />
        </Stack>
      </div>
    </Page>
  );
}

function Bundle({ bundle }: { bundle: ReturnType<typeof useBundle> }) {
  const t = useText(texts);
  const handle = useRef<CodeEditorHandle>(null);
  const { values, set, body, plan, problems, error } = bundle;
  const marks = marksOf(problems.filter(({ file }) => file === PASTED));
  return (
    <Stack gap="sm" miw={0}>
      <Panel title={t.files}>
        <Stack gap="sm">
          <FileChoice files={values.files} onChange={(files) => set({ files })} />
          <Text size="xs" c="dimmed">
            {t.pasteHint}
          </Text>
          <CodeEditor
            label={t.paste}
            value={values.text}
            marks={marks}
            handle={handle}
            onChange={(text) => set({ text })}
          />
          <PruneChoice values={values} onChange={set} />
          <BundleButtons bundle={bundle} />
        </Stack>
      </Panel>
      {problems.length > 0 ? (
        <ProblemList
          problems={problems}
          files
          goTo={(line, column, file) => {
            if (file === PASTED) handle.current?.goTo(line, column);
          }}
        />
      ) : (
        <FaultAlert error={error} />
      )}
      {plan.data !== undefined && (
        <Panel title={t.planTitle}>
          <PlanView items={plan.data.items} />
          {plan.data.items.some(({ action }) => action !== 'leave') && <ImpactView body={body} />}
        </Panel>
      )}
    </Stack>
  );
}

interface BundleValues {
  files: readonly Named[];
  /** The pasted text. */
  text: string;
  prune: boolean;
  pruneIdentity: boolean;
}

function bodyOf({ files, text, prune, pruneIdentity }: BundleValues): BundleBody {
  return {
    files: [...files, ...(text.trim() === '' ? [] : [{ name: PASTED, text }])],
    prune,
    pruneIdentity: prune && pruneIdentity,
  };
}

/** The chosen files and options, their plan, and the apply. A change makes the plan invalid. */
function useBundle() {
  const t = useText(texts);
  const words = useText(configTexts);
  const [values, setValues] = useState<BundleValues>({ files: [], text: '', prune: false, pruneIdentity: false });
  const body = bodyOf(values);
  const plan = useMutation({
    mutationFn: (wanted: BundleBody) => planBundle(wanted),
  });
  const apply = useAction({
    run: () => applyChecked(body, plan.data?.configVersion ?? 1, words),
    touches: [[]],
    done: t.applied,
    after: () => plan.reset(),
    quiet: true,
  });
  const set = (part: Partial<BundleValues>): void => {
    setValues((before) => ({ ...before, ...part }));
    plan.reset();
    apply.reset();
  };
  /** Plans the files of an earlier version: what they do not hold is archived. */
  const restore = (version: number, files: readonly Named[]): void => {
    const wanted = { files, text: '', prune: true, pruneIdentity: false };
    set(wanted);
    plan.mutate(bodyOf(wanted));
    notify({ message: t.restoring(version), color: 'petrol', autoClose: 5000 });
  };
  const error = apply.error ?? plan.error;
  return {
    values,
    set,
    restore,
    body,
    plan,
    apply,
    error,
    problems: error instanceof ApiFault ? problemsOf(error) : [],
  };
}

function BundleButtons({ bundle }: { bundle: ReturnType<typeof useBundle> }) {
  const t = useText(texts);
  const { plan, apply, body } = bundle;
  const { prune } = bundle.values;
  const changes = plan.data?.items.filter((item) => item.action !== 'leave') ?? [];
  const ask = async (): Promise<void> => {
    const agreed = await confirm({
      title: t.applyTitle,
      body: prune ? `${t.applyBody(changes.length)} ${t.applyPrune}` : t.applyBody(changes.length),
      yes: t.apply,
      danger: prune,
      ...(prune ? { word: t.word } : {}),
    });
    if (agreed) apply.mutate();
  };
  return (
    <Group gap="xs">
      <Button
        variant={changes.length > 0 ? 'default' : 'filled'}
        loading={plan.isPending}
        disabled={body.files.length === 0}
        onClick={() => plan.mutate(body)}
      >
        {t.plan}
      </Button>
      {changes.length > 0 && (
        <Button loading={apply.isPending} onClick={() => void ask()}>
          {t.apply}
        </Button>
      )}
    </Group>
  );
}

interface FileChoiceProps {
  files: readonly Named[];
  onChange: (files: readonly Named[]) => void;
}

function FileChoice({ files, onChange }: FileChoiceProps) {
  const t = useText(texts);
  const read = async (chosen: File[]): Promise<void> =>
    onChange(await Promise.all(chosen.map(async (file) => ({ name: file.name, text: await file.text() }))));
  return (
    <Group gap="xs">
      <FileButton onChange={(chosen) => void read(chosen)} accept=".yaml,.yml" multiple>
        {(props) => (
          <Button {...props} variant="default" leftSection={<IconFileUpload size={14} />}>
            {t.choose}
          </Button>
        )}
      </FileButton>
      {files.length > 0 && (
        <>
          <Text size="xs" c="dimmed" title={files.map(({ name }) => name).join(', ')}>
            {t.chosen(files.length)}
          </Text>
          <Button variant="subtle" onClick={() => onChange([])}>
            {t.clear}
          </Button>
        </>
      )}
    </Group>
  );
}

interface PruneChoiceProps {
  values: BundleValues;
  onChange: (part: Partial<BundleValues>) => void;
}

/** Whether items that the files leave out are archived. */
function PruneChoice({ values, onChange }: PruneChoiceProps) {
  const t = useText(texts);
  return (
    <Stack gap={10}>
      <Checkbox
        label={t.prune}
        checked={values.prune}
        onChange={(event) => onChange({ prune: event.currentTarget.checked })}
      />
      {values.prune && (
        <Checkbox
          label={t.pruneIdentity}
          checked={values.pruneIdentity}
          ml="lg"
          onChange={(event) => onChange({ pruneIdentity: event.currentTarget.checked })}
        />
      )}
    </Stack>
  );
}

function Export() {
  const t = useText(texts);
  const [identity, setIdentity] = useState(false);
  const save = useAction({
    run: () => call<typeof configuration.exported>('GET', '/config/export', { query: { identity } }),
    after: ({ files }) => saveText('docket.yaml', files.map(({ text }) => text).join('\n')),
  });
  return (
    <Panel title={t.exportTitle}>
      <Stack gap="sm" align="flex-start">
        <Text size="sm" c="dimmed">
          {t.exportHint}
        </Text>
        <Checkbox
          label={t.withIdentity}
          checked={identity}
          onChange={(event) => setIdentity(event.currentTarget.checked)}
        />
        <Button
          variant="default"
          leftSection={<IconDownload size={14} />}
          loading={save.isPending}
          onClick={() => save.mutate()}
        >
          {t.export}
        </Button>
      </Stack>
    </Panel>
  );
}

function saveText(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/yaml' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
