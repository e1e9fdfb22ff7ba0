/** Editor of the layout of a type's form: sections with a name, one or two columns, and their fields in order. */
import { ActionIcon, Button, Group, Select, Stack, Text } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconX } from '@tabler/icons-react';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { Block } from '../config/block.tsx';
import form from '../config/form-parts.module.css';
import { type FormPart, NameInputs } from '../config/form-parts.tsx';
import { LinesHead } from '../config/lines-table.tsx';
import type { Named } from '../config/type-shape.ts';
import { type ItemValue, nameIn } from '../config/yaml-text.ts';
import { fieldsOf, layoutItem, type LayoutSection, sectionsOf } from './model.ts';
import { texts } from './texts.ts';
import classes from './types.module.css';

function moved<T>(list: readonly T[], from: number, by: -1 | 1): T[] {
  const next = list.toSpliced(from, 1);
  next.splice(from + by, 0, list[from] as T);
  return next;
}

export function LayoutEditor({ item, set }: FormPart) {
  const t = useText(texts);
  const language = useLanguage();
  const sections = sectionsOf(item);
  const fields = fieldsOf(item).map(({ code, name }) => ({ code, name: nameIn(name, language) || code }));
  const placed = new Set(sections.flatMap((section) => section.fields));
  const free = fields.filter(({ code }) => !placed.has(code));
  const put = (next: readonly LayoutSection[]): void => set(['layout'], layoutItem(next));
  return (
    <Stack gap="xs">
      <LinesHead
        title={t.layout}
        add={t.addSection}
        onAdd={() =>
          put([...sections, { columns: 2, fields: sections.length === 0 ? free.map(({ code }) => code) : [] }])
        }
      />
      <Text size="xs" c="dimmed">
        {sections.length === 0
          ? t.noLayout
          : free.length === 0
            ? t.allPlaced
            : t.notPlaced(free.map(({ name }) => name))}
      </Text>
      <ul className={form.lines}>
        {sections.map((section, index) => (
          <Block
            // Sections have no code; only the index identifies them.
            // oxlint-disable-next-line react/no-array-index-key
            key={index}
            name={nameIn(section.name, language) || t.section(index + 1)}
            code={t.fieldCount(section.fields.length)}
            startsOpen={section.fields.length === 0}
            remove={() => put(sections.toSpliced(index, 1))}
          >
            <NameInputs
              item={section as unknown as ItemValue}
              set={(path, value) => set(['layout', 'sections', index, ...path], value)}
            />
            <SectionFields
              section={section}
              fields={fields}
              free={free}
              onChange={(next) => put(sections.with(index, next))}
              {...(index === 0 ? {} : { up: () => put(moved(sections, index, -1)) })}
            />
          </Block>
        ))}
      </ul>
    </Stack>
  );
}

interface SectionFieldsProps {
  section: LayoutSection;
  fields: readonly Named[];
  /** Fields in no section. */
  free: readonly Named[];
  onChange: (section: LayoutSection) => void;
  /** Moves the section up; undefined for the first. */
  up?: () => void;
}

function SectionFields({ section, fields, free, onChange, up }: SectionFieldsProps) {
  const t = useText(texts);
  const { fields: codes } = section;
  const put = (next: string[]): void => onChange({ ...section, fields: next });
  return (
    <>
      <Group gap="xs" align="flex-end">
        <Select
          label={t.columns}
          data={[
            { value: '1', label: t.oneColumn },
            { value: '2', label: t.twoColumns },
          ]}
          value={String(section.columns ?? 1)}
          allowDeselect={false}
          onChange={(value) => onChange({ ...section, columns: Number(value) })}
        />
        <Select
          label={t.addToSection}
          placeholder={free.length === 0 ? t.allPlaced : t.chooseField}
          data={free.map(({ code, name }) => ({ value: code, label: name }))}
          value={null}
          searchable
          disabled={free.length === 0}
          onChange={(code) => code !== null && put([...codes, code])}
        />
        {up !== undefined && (
          <Button variant="default" leftSection={<IconArrowUp size={14} />} onClick={up}>
            {t.sectionUp}
          </Button>
        )}
      </Group>
      <PlacedFields codes={codes} fields={fields} put={put} />
    </>
  );
}

interface PlacedFieldsProps {
  codes: readonly string[];
  fields: readonly Named[];
  put: (codes: string[]) => void;
}

function PlacedFields({ codes, fields, put }: PlacedFieldsProps) {
  const t = useText(texts);
  const names = new Map(fields.map(({ code, name }) => [code, name]));
  return (
    <ol className={classes.placed} aria-label={t.fields}>
      {codes.map((code, index) => {
        const name = names.get(code) ?? code;
        return (
          <li key={code}>
            <span>{name}</span>
            <ActionIcon
              aria-label={`${t.up}: ${name}`}
              disabled={index === 0}
              onClick={() => put(moved(codes, index, -1))}
            >
              <IconArrowUp size={14} />
            </ActionIcon>
            <ActionIcon
              aria-label={`${t.down}: ${name}`}
              disabled={index === codes.length - 1}
              onClick={() => put(moved(codes, index, 1))}
            >
              <IconArrowDown size={14} />
            </ActionIcon>
            <ActionIcon aria-label={`${t.takeFromSection}: ${name}`} onClick={() => put(codes.toSpliced(index, 1))}>
              <IconX size={14} />
            </ActionIcon>
          </li>
        );
      })}
    </ol>
  );
}
