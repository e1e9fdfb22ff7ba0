/** The inputs of a record form in sections: those of the type's layout, or the required fields before the others. */
import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { Panel } from '../../ui/page.tsx';
import { texts } from '../texts.ts';
import classes from './form-sections.module.css';
import { type FieldGroup, type FormType, groupsOf, isLong, recordLayout } from './schema.ts';

interface FormSectionsProps {
  fields: readonly FieldSchema[];
  type: FormType;
  /** `index` is 0 for the first input of the form. */
  input: (field: FieldSchema, index: number) => ReactNode;
}

export function FormSections({ fields, type, input }: FormSectionsProps) {
  const t = useText(texts);
  const groups = type.layout.length === 0 ? withoutLayout(fields, type) : groupsOf(fields, type.layout);
  const first = groups[0]?.fields[0];
  return (
    <Stack gap="md">
      {groups.map(({ name, columns, fields: own }, at) => {
        const title = name ?? (at === 0 ? null : t.optional);
        return (
          <Panel key={own[0]?.code} {...(title === null ? {} : { title })}>
            <div className={classes.grid} data-columns={columns}>
              {own.map((field) => (
                <div key={field.code} data-wide={isLong(field) || field.code === type.titleField || undefined}>
                  {input(field, field === first ? 0 : 1)}
                </div>
              ))}
            </div>
          </Panel>
        );
      })}
    </Stack>
  );
}

/** The title, the required and the long fields; then the others in two columns. */
function withoutLayout(fields: readonly FieldSchema[], type: FormType): FieldGroup[] {
  const { title, long, short } = recordLayout(fields, type);
  const main = [...(title === undefined ? [] : [title]), ...short.filter((field) => field.required), ...long];
  const rest = short.filter((field) => !field.required);
  return [
    { name: null, columns: 1, fields: main },
    { name: null, columns: 2, fields: rest },
  ].filter((group) => group.fields.length > 0);
}
