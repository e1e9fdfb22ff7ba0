/** Beside the editor of a type: a preview of its form, and a table of its fields and constraints. */
import { Badge, Stack, Tabs, Text } from '@mantine/core';
import { useState } from 'react';
import { isDataType } from '../../../../src/lib/data-types/index.ts';
import { dataTypeName, dataTypeTexts } from '../../fields/data-type-texts.ts';
import { FormSections } from '../../desk/record/form-sections.tsx';
import { FieldInput } from '../../fields/input.tsx';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { Panel } from '../../ui/page.tsx';
import { type ItemValue, nameIn } from '../config/yaml-text.ts';
import { type FieldItem, fieldsOf, schemaOf, sectionsOf } from './model.ts';
import { texts } from './texts.ts';
import classes from './types.module.css';

export function TypeAside({ item }: { item: ItemValue }) {
  const t = useText(texts);
  return (
    <Panel>
      <Tabs defaultValue="preview" variant="default">
        <Tabs.List mb="sm">
          <Tabs.Tab value="preview">{t.preview}</Tabs.Tab>
          <Tabs.Tab value="list">{t.list}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="preview">
          <Preview item={item} />
        </Tabs.Panel>
        <Tabs.Panel value="list">
          <FieldList fields={fieldsOf(item)} />
        </Tabs.Panel>
      </Tabs>
    </Panel>
  );
}

function Preview({ item }: { item: ItemValue }) {
  const t = useText(texts);
  const language = useLanguage();
  const [values, setValues] = useState<Record<string, unknown>>({});
  const title = typeof item['title'] === 'string' ? item['title'] : 'title';
  const layout = sectionsOf(item).map(({ name, columns = 1, fields }) => ({
    name: nameIn(name, language) || null,
    columns,
    fields,
  }));
  const shown = fieldsOf(item).filter((field) => field.readOnly !== true && isDataType(field.dataType));
  if (shown.length === 0) return <Text c="dimmed">{t.noFields}</Text>;
  return (
    <Stack gap="sm" className={classes.preview}>
      <Text size="xs" c="dimmed">
        {t.previewHint}
      </Text>
      <FormSections
        fields={shown.map((field) => schemaOf(field, language))}
        type={{ layout, titleField: title }}
        input={(field) => (
          <FieldInput
            // A change of data type needs a new input.
            key={`${field.code} ${field.dataType} ${field.multiple}`}
            field={field}
            value={values[field.code] ?? null}
            onChange={(value) => setValues((before) => ({ ...before, [field.code]: value }))}
            place={null}
          />
        )}
      />
    </Stack>
  );
}

/** Describes the constraints of a field. */
function useConstraintWords(): (field: FieldItem) => string[] {
  const t = useText(texts);
  const language = useLanguage();
  const named = ['minLength', 'maxLength', 'pattern', 'min', 'max', 'scale', 'maxItems'] as const;
  return ({ constraints = {}, default: value }) => {
    const words = named.flatMap((key) =>
      constraints[key] === undefined ? [] : [`${t[key]} ${String(constraints[key])}`],
    );
    if (Array.isArray(constraints.options)) {
      const options = constraints.options.map((option) => nameIn(option.name, language) || option.code);
      words.push(`${t.options}: ${options.join(', ')}`);
    }
    if (Array.isArray(constraints['types'])) words.push(`${t.types}: ${constraints['types'].join(', ')}`);
    if (value !== undefined) words.push(`${t.default}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
    return words;
  };
}

function FieldList({ fields }: { fields: readonly FieldItem[] }) {
  const t = useText(texts);
  const language = useLanguage();
  const types = useText(dataTypeTexts);
  const words = useConstraintWords();
  return (
    <ul className={classes.list} aria-label={t.list}>
      {fields.map((field) => (
        <li key={field.code}>
          <span className={classes.fieldHead}>
            <strong>{nameIn(field.name, language) || field.code}</strong> <code>{field.code}</code>
            <Badge size="xs" variant="light" color="gray" radius="sm" tt="none">
              {dataTypeName(types, field.dataType)}
              {field.multiple === true ? ' […]' : ''}
            </Badge>
            {field.required === true && (
              <Badge size="xs" variant="light" color="petrol" radius="sm" tt="none">
                {t.required}
              </Badge>
            )}
            {field.readOnly === true && (
              <Badge size="xs" variant="light" color="gray" radius="sm" tt="none">
                {t.readOnly}
              </Badge>
            )}
          </span>
          {words(field).map((line) => (
            <Text key={line} size="xs" c="dimmed">
              {line}
            </Text>
          ))}
        </li>
      ))}
    </ul>
  );
}
