/** Editor of an existing import definition as a configuration item, with plan and text. */
import { Autocomplete, Button, Group, NativeSelect, Stack, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { deskTypesQuery } from '../../desk/queries.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { Page } from '../../ui/page.tsx';
import { ArchiveButton } from '../config/config-screen.tsx';
import { at, CodeInput, NameInputs, textAt } from '../config/form-parts.tsx';
import { ItemEditor, type ItemFormProps } from '../config/item-editor.tsx';
import classes from './imports.module.css';
import { MappingLine, type MappingValues, useTargets } from './mapping-line.tsx';
import { type Definition, nameOf, type TargetKind } from './queries.ts';
import { texts } from './texts.ts';
import { isActive } from '../../../../src/contract/state.ts';

const MODES = ['UPSERT', 'CREATE_ONLY', 'UPDATE_ONLY'] as const;
const STANDARD_PRECEDENCE = 100;

interface Line extends MappingValues {
  /** Index from 0; the only identity of a line. */
  place: number;
}

/** The mapping lines in the item; invalid parts are shown as far as possible. */
function linesOf(item: unknown): Line[] {
  const list = at(item, ['mapping']);
  if (!Array.isArray(list)) return [];
  return list.map((line, place) => {
    const transform = at(line, ['transform']);
    const precedence = at(line, ['precedence']);
    return {
      place,
      source: textAt(line, ['source']),
      target: textAt(line, ['target']) || null,
      transform: transform === undefined || transform === null ? [] : [transform].flat().map(String),
      precedence: typeof precedence === 'number' ? precedence : STANDARD_PRECEDENCE,
    };
  });
}

/** The lines in configuration format, without default values. */
function written(lines: readonly MappingValues[]): unknown[] {
  return lines.map(({ source, target, transform, precedence }) => ({
    source,
    target: target ?? '',
    ...(transform.length === 0 ? {} : { transform: transform.length === 1 ? transform[0] : transform }),
    ...(precedence === STANDARD_PRECEDENCE || precedence === '' ? {} : { precedence }),
  }));
}

function DefinitionFields(props: ItemFormProps) {
  const { item, set } = props;
  const t = useText(texts);
  const { data: types = [] } = useQuery(deskTypesQuery);
  const kind = (textAt(item, ['targetKind']) || 'object') as TargetKind;
  const type = types.find((one) => one.code === textAt(item, ['targetType']));
  const fields = useTargets(kind, type?.id ?? null);
  const lines = linesOf(item);
  const columns = lines.map(({ source }) => source).filter((one) => one !== '');
  const put = (next: readonly MappingValues[]): void => set(['mapping'], written(next));
  return (
    <Stack gap="sm">
      <CodeInput {...props} />
      <NameInputs item={item} set={set} />
      <SourceInputs item={item} set={set} columns={columns} />
      {lines.map((line) => (
        <MappingLine
          key={line.place}
          line={line}
          columns={[...new Set(columns)]}
          fields={fields}
          change={(part) => put(lines.with(line.place, { ...line, ...part }))}
          remove={() => put(lines.toSpliced(line.place, 1))}
        />
      ))}
      <Group>
        <Button
          variant="subtle"
          leftSection={<IconPlus size={14} />}
          onClick={() => put([...lines, { source: '', target: null, transform: [], precedence: STANDARD_PRECEDENCE }])}
        >
          {t.addRow}
        </Button>
      </Group>
    </Stack>
  );
}

interface SourceInputsProps {
  item: ItemFormProps['item'];
  set: ItemFormProps['set'];
  columns: string[];
}

function SourceInputs({ item, set, columns }: SourceInputsProps) {
  const t = useText(texts);
  return (
    <div className={classes.grid}>
      <TextInput
        label={t.source}
        description={t.sourceHint}
        value={textAt(item, ['sourceCode'])}
        onChange={(event) => set(['sourceCode'], event.currentTarget.value)}
      />
      <Autocomplete
        label={t.externalId}
        data={[...new Set(columns)]}
        value={textAt(item, ['resolver', 'externalIdField'])}
        onChange={(value) => set(['resolver', 'externalIdField'], value)}
      />
      <NativeSelect
        label={t.mode}
        value={textAt(item, ['mode'])}
        data={MODES.map((value) => ({ value, label: t[value] }))}
        onChange={(event) => set(['mode'], event.currentTarget.value)}
      />
      <NativeSelect
        label={t.format}
        value={textAt(item, ['format'])}
        data={['CSV', 'JSON']}
        onChange={(event) => set(['format'], event.currentTarget.value)}
      />
    </div>
  );
}

export function DefinitionEditor({ definition }: { definition: Definition }) {
  const language = useLanguage();
  const t = useText(texts);
  const navigate = useNavigate();
  const go = (splat: string): void => void navigate({ to: '/admin/$', params: { _splat: splat } });
  const own = `imports/definitions/${definition.id}`;
  return (
    <Page
      title={nameOf(definition, language)}
      hint={t.editHint}
      back={{ label: t.definition, href: `/admin/${own}` }}
      actions={
        isActive(definition) && (
          <ArchiveButton section="importDefinitions" code={definition.code} after={() => go('imports')} />
        )
      }
    >
      <ItemEditor
        section="importDefinitions"
        code={definition.code}
        form={DefinitionFields}
        onApplied={() => go(own)}
      />
    </Page>
  );
}
