/** Displays a value of any data type. */
import { Anchor, Code, Spoiler } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ComponentType, lazy, type ReactNode, Suspense } from 'react';
import { isWebAddress, type View } from '../../../src/lib/data-types/index.ts';
import type { FieldSchema } from '../api/types.ts';
import { useFormats } from '../i18n/format.ts';
import { useText } from '../i18n/text.ts';
import { PersonName } from '../ui/person.tsx';
import { Time } from '../ui/time.tsx';
import { isEmpty } from './check.ts';
import { showDuration } from './duration.ts';
import { labelText, useLabels } from './labels.ts';
import { plainText, RichText, type RichNode } from './rich-text.tsx';
import { texts } from './texts.ts';
import { typeOf } from './view.ts';
import classes from './value.module.css';

export interface FieldValueProps {
  field: Pick<FieldSchema, 'dataType' | 'constraints' | 'multiple' | 'code'>;
  value: unknown;
  /** Id of the record that holds the value, for image URLs. */
  recordId?: string | undefined;
  /** One line without links, for table cells. */
  compact?: boolean;
}

interface OneProps extends FieldValueProps {
  compact: boolean;
  /** The value as text. */
  text: string;
}

export function FieldValue(props: FieldValueProps): ReactNode {
  const t = useText(texts);
  const { value, compact = false } = props;
  if (isEmpty(value)) return compact ? null : <span className={classes.empty}>{t.empty}</span>;
  const One = VALUES[typeOf(props.field.dataType).view];
  if (!Array.isArray(value)) return <One {...props} compact={compact} text={String(value)} />;
  return (
    <span className={compact ? classes.row : classes.list}>
      {value.map((element) => (
        <span key={JSON.stringify(element)} className={classes.element}>
          <One {...props} value={element} compact={compact} text={String(element)} />
        </span>
      ))}
    </span>
  );
}

function BooleanValue({ value }: OneProps) {
  const t = useText(texts);
  return value === true ? t.yes : t.no;
}

function IntegerValue({ value, text }: OneProps) {
  const format = useFormats();
  return <span className="tabular">{typeof value === 'number' ? format.number(value) : text}</span>;
}

// Loaded on demand: lists show no long texts, and the parser is large.
const Markdown = lazy(async () => ({ default: (await import('../ui/markdown.tsx')).Markdown }));

/** Long texts are written as Markdown; very long ones are folded, so that the conversation stays in view. */
function LongText({ text }: { text: string }) {
  const t = useText(texts);
  return (
    <Spoiler maxHeight={220} showLabel={t.showAll} hideLabel={t.showLess} transitionDuration={0}>
      <Suspense fallback={<span className={classes.text}>{text}</span>}>
        <Markdown source={text} />
      </Suspense>
    </Spoiler>
  );
}

function DayValue({ text }: OneProps) {
  const format = useFormats();
  return <span className="tabular">{format.day(text)}</span>;
}

function DurationValue({ text }: OneProps) {
  const t = useText(texts);
  return <span className="tabular">{showDuration(text, t.durationUnits)}</span>;
}

const tabular = ({ text }: OneProps): ReactNode => <span className="tabular">{text}</span>;

const VALUES: Readonly<Record<View, ComponentType<OneProps>>> = {
  line: ({ text }) => text,
  lines: ({ text, compact }) => (compact ? text : <LongText text={text} />),
  'rich-text': ({ value, compact, recordId }) =>
    compact ? plainText(value as RichNode) : <RichText document={value as RichNode} recordId={recordId} />,
  url: ({ text, compact }) =>
    !compact && isWebAddress(text) ? (
      <Anchor href={text} target="_blank" rel="noreferrer nofollow" size="sm">
        {text}
      </Anchor>
    ) : (
      text
    ),
  email: ({ text, compact }) => (compact ? text : <Anchor href={`mailto:${encodeURIComponent(text)}`}>{text}</Anchor>),
  phone: ({ text, compact }) =>
    compact ? text : <Anchor href={`tel:${text.replaceAll(/[^+\d]/g, '')}`}>{text}</Anchor>,
  integer: IntegerValue,
  decimal: tabular,
  boolean: BooleanValue,
  date: DayValue,
  datetime: ({ text }) => <Time at={text} absolute />,
  time: tabular,
  duration: DurationValue,
  choice: ({ field, text }) => <EnumValue field={field} code={text} />,
  reference: ({ field, text, compact }) => <Named id={text} kind={field.dataType} compact={compact} />,
  json: ({ value, compact }) => <Code block={!compact}>{JSON.stringify(value, null, compact ? 0 : 2)}</Code>,
};

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
