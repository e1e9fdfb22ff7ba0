/** Displays a value of any data type. */
import { Anchor, Code } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { FieldSchema } from '../api/types.ts';
import { useFormats } from '../i18n/format.ts';
import { useText } from '../i18n/text.ts';
import { PersonName } from '../ui/person.tsx';
import { Time } from '../ui/time.tsx';
import { isEmpty, isWebAddress } from './check.ts';
import { showDuration } from './duration.ts';
import { labelText, useLabels } from './labels.ts';
import { plainText, RichText, type RichNode } from './rich-text.tsx';
import { texts } from './texts.ts';
import classes from './value.module.css';

const ID_TYPES = new Set(['reference', 'user', 'group', 'org-unit', 'service']);

export interface FieldValueProps {
  field: Pick<FieldSchema, 'dataType' | 'constraints' | 'multiple' | 'code'>;
  value: unknown;
  /** Id of the record that holds the value, for image URLs. */
  recordId?: string | undefined;
  /** One line without links, for table cells. */
  compact?: boolean;
}

export function FieldValue(props: FieldValueProps): ReactNode {
  const t = useText(texts);
  const { value, compact = false } = props;
  if (isEmpty(value)) return compact ? null : <span className={classes.empty}>{t.empty}</span>;
  if (!Array.isArray(value)) return <OneValue {...props} />;
  return (
    <span className={compact ? classes.row : classes.list}>
      {value.map((element) => (
        <span key={JSON.stringify(element)} className={classes.element}>
          <OneValue {...props} value={element} />
        </span>
      ))}
    </span>
  );
}

function OneValue({ field, value, recordId, compact = false }: FieldValueProps): ReactNode {
  const t = useText(texts);
  const format = useFormats();
  const text = String(value);
  switch (field.dataType) {
    case 'boolean':
      return value === true ? t.yes : t.no;
    case 'enum':
      return <EnumValue field={field} code={text} />;
    case 'date':
      return <span className="tabular">{format.day(text)}</span>;
    case 'datetime':
      return <Time at={text} absolute />;
    case 'duration':
      return <span className="tabular">{showDuration(text, t.durationUnits)}</span>;
    case 'integer':
      return <span className="tabular">{typeof value === 'number' ? format.number(value) : text}</span>;
    case 'decimal':
    case 'time':
      return <span className="tabular">{text}</span>;
    case 'text':
      return compact ? text : <span className={classes.text}>{text}</span>;
    case 'rich-text':
      return compact ? plainText(value as RichNode) : <RichText document={value as RichNode} recordId={recordId} />;
    case 'json':
      return <Code block={!compact}>{JSON.stringify(value, null, compact ? 0 : 2)}</Code>;
    case 'url':
      return !compact && isWebAddress(text) ? (
        <Anchor href={text} target="_blank" rel="noreferrer nofollow" size="sm">
          {text}
        </Anchor>
      ) : (
        text
      );
    case 'email':
      return compact ? text : <Anchor href={`mailto:${encodeURIComponent(text)}`}>{text}</Anchor>;
    case 'phone':
      return compact ? text : <Anchor href={`tel:${text.replaceAll(/[^+\d]/g, '')}`}>{text}</Anchor>;
    default:
      return ID_TYPES.has(field.dataType) ? <Named id={text} kind={field.dataType} compact={compact} /> : text;
  }
}

/** Options of the field `priority` get a marker by their order, independent of their names. */
function EnumValue({ field, code }: { field: FieldValueProps['field']; code: string }) {
  const options = field.constraints.options ?? [];
  const index = options.findIndex((option) => option.code === code);
  const name = options[index]?.name ?? code;
  const ranked = field.code === 'priority' && index !== -1;
  return (
    <span className={classes.option}>
      {ranked && <span className={classes.rank} data-rank={Math.min(index, 4)} aria-hidden="true" />}
      {name}
    </span>
  );
}

function Named({ id, kind, compact }: { id: string; kind: string; compact: boolean }) {
  const t = useText(texts);
  const labels = useLabels([id]);
  const label = labels.get(id);
  if (label === undefined) return <span className={classes.waiting}>…</span>;
  const text = labelText(label);
  if (text === undefined) return <span className={classes.empty}>{t.unknown}</span>;
  if (kind === 'user') return <PersonName name={text} />;
  if (kind !== 'reference' || compact) return text;
  return (
    <Link to="/records/$recordId" params={{ recordId: id }} className={classes.link}>
      {text}
    </Link>
  );
}
