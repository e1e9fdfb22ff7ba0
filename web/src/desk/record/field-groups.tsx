/** The short fields of a record, under the names of their sections. */
import { Fragment, type ReactNode } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { texts } from '../texts.ts';
import classes from './record.module.css';
import type { FieldGroup } from './schema.ts';

interface FieldGroupsProps {
  groups: readonly FieldGroup[];
  line: (field: FieldSchema) => ReactNode;
}

export function FieldGroups({ groups, line }: FieldGroupsProps) {
  const t = useText(texts);
  return groups.map(({ name, columns, fields }, index) => {
    const title = name ?? (index === 0 ? null : t.otherFields);
    return (
      <Fragment key={fields[0]?.code}>
        {title !== null && <h3 className={classes.groupHeading}>{title}</h3>}
        <div className={classes.group} data-columns={columns}>
          {fields.map(line)}
        </div>
      </Fragment>
    );
  });
}
