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
import { Page, Panel } from '../../ui/page.tsx';
import { CodeEditor, type CodeEditorHandle } from '../config/code-editor.tsx';
import { ProblemList } from '../config/problem-list.tsx';
import { PlanView } from '../config/plan-view.tsx';
import { applyBundle, type BundleBody, marksOf, problemsOf } from '../config/queries.ts';
import classes from './configuration.module.css';
import { texts } from './texts.ts';

const PASTED = 'pasted.yaml';

interface Named {
  name: string;
  text: string;
}

export default function ConfigurationPage() {
  const t = useText(texts);
  return (
    <Page title={t.title} hint={t.hint}>
      <div className={classes.two}>
        <Bundle />
        <div>
          <Export />
        </div>
      </div>
    </Page>
  );
}

function Bundle() {
  const t = useText(texts);
  const bundle = useBundle();
  const handle = useRef<CodeEditorHandle>(null);
  const { values, set, plan, problems, error } = bundle;
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
          <PlanView items={plan.data} />
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

/** The chosen files and options, their plan, and the apply. A change makes the plan invalid. */
function useBundle() {
  const t = useText(texts);
  const [values, setValues] = useState<BundleValues>({ files: [], text: '', prune: false, pruneIdentity: false });
  const { files, text, prune, pruneIdentity } = values;
  const body: BundleBody = {
    files: [...files, ...(text.trim() === '' ? [] : [{ name: PASTED, text }])],
    prune,
    pruneIdentity: prune && pruneIdentity,
  };
  const plan = useMutation({
    mutationFn: () => call<typeof configuration.plan>('POST', '/config/plan', { body }),
  });
  const apply = useAction({
    run: () => applyBundle(body),
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
  const error = apply.error ?? plan.error;
  return { values, set, body, plan, apply, error, problems: error instanceof ApiFault ? problemsOf(error) : [] };
}

function BundleButtons({ bundle }: { bundle: ReturnType<typeof useBundle> }) {
  const t = useText(texts);
  const { plan, apply, body } = bundle;
  const { prune } = bundle.values;
  const changes = plan.data?.filter((item) => item.action !== 'leave') ?? [];
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
        onClick={() => plan.mutate()}
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
