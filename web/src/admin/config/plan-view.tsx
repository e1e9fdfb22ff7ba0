/** Shows a plan: created, changed and archived items, with old and new values. */
import { Stack, Text } from '@mantine/core';
import { IconCircleCheck } from '@tabler/icons-react';
import { excerpts } from '../../../../src/lib/excerpts.ts';
import { dataTypeTexts } from '../../fields/data-type-texts.ts';
import { useLanguage } from '../../i18n/language.ts';
import { nameIn, useText } from '../../i18n/text.ts';
import { problemMessage } from '../../problems/message.ts';
import { Mark, Notice } from './mark.tsx';
import { type ItemName, useItemNames, usePlaceNames } from './place-names.ts';
import classes from './plan-view.module.css';
import { propertyTexts } from './property-texts.ts';
import type { PlannedChange } from './queries.ts';
import { texts } from './texts.ts';

type Difference = PlannedChange['differences'][number];

const TONES: Readonly<Record<string, 'good' | 'warn' | 'off'>> = { archive: 'off', change: 'warn', leave: 'off' };

/** Notes about values and records for which nothing is left. */
const LOSSES: ReadonlySet<string> = new Set([
  'VALUES_DISCARDED',
  'DISCARD_NEEDED',
  'DISCARD_COUNTED_PARTLY',
  'STATE_OCCUPIED',
]);

/** A value of the plan: texts as they are, lists by their members, objects as a table of their properties. */
function PlanValue({ value, property }: { value: unknown; property?: string }) {
  const t = useText(texts);
  const properties: Readonly<Record<string, string>> = useText(propertyTexts);
  const dataTypes: Readonly<Record<string, string>> = useText(dataTypeTexts);
  if (typeof value === 'boolean') return value ? t.yes : t.no;
  if (value === null) return t.nothing;
  if (Array.isArray(value)) {
    if (value.length === 0) return t.empty;
    const text = asText(value);
    if (text !== undefined) return text;
    return (
      <ol className={classes.members}>
        {withKeys(value).map(({ key, one }) => (
          <li key={key}>
            <PlanValue value={one} />
          </li>
        ))}
      </ol>
    );
  }
  if (typeof value !== 'object') return (property === 'dataType' && dataTypes[String(value)]) || String(value);
  return (
    <dl className={classes.properties}>
      {Object.entries(value).map(([name, one]) => (
        <div key={name}>
          <dt>{properties[name] ?? name}</dt>
          <dd>
            <PlanValue value={one} property={name} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Characters of a text or list in one cell. */
const MAX_TEXT = 400;

/** A value that is shown as one text; undefined for others. */
function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const isPlain = Array.isArray(value) && value.length > 0 && value.every((one) => typeof one !== 'object');
  return isPlain ? value.map(String).join(', ') : undefined;
}

/** Long texts are cut around the first difference. */
function cutValues(difference: Difference, whole: (length: number) => string): Difference {
  const [before, after] = [asText(difference.before), asText(difference.after)];
  if ((before?.length ?? 0) <= MAX_TEXT && (after?.length ?? 0) <= MAX_TEXT) return difference;
  const [old, now] = excerpts(before ?? '', after ?? '', { most: MAX_TEXT, whole });
  return {
    ...difference,
    ...(before === undefined ? {} : { before: old }),
    ...(after === undefined ? {} : { after: now }),
  };
}

/** The members with keys; equal ones are numbered. */
function withKeys(list: readonly unknown[]): { key: string; one: unknown }[] {
  const seen = new Map<string, number>();
  return list.map((one) => {
    const text = JSON.stringify(one);
    const count = (seen.get(text) ?? 0) + 1;
    seen.set(text, count);
    return { key: `${text} ${count}`, one };
  });
}

export function PlanView({ items, bare = false }: { items: readonly PlannedChange[]; bare?: boolean }) {
  const t = useText(texts);
  // An unchanged item with a note, for example that it stays archived, is shown too.
  const changed = items.filter((item) => item.action !== 'leave' || item.notes !== undefined);
  const left = items.length - changed.length;
  const nameOf = useItemNames(changed.map(({ section }) => section));
  if (changed.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t.nothingToDo}
      </Text>
    );
  }
  return (
    <Stack gap="sm">
      {changed.map((item) => (
        <ChangeView
          key={`${item.section} ${item.code}`}
          item={item}
          named={nameOf(item.section, item.code)}
          bare={bare}
        />
      ))}
      {left > 0 && (
        <Text size="xs" c="dimmed">
          {t.left(left)}
        </Text>
      )}
    </Stack>
  );
}

function useActionNames(): Readonly<Record<string, string>> {
  const t = useText(texts);
  return { create: t.create, change: t.change, leave: t.leave, archive: t.doArchive, restore: t.restore };
}

interface ChangeViewProps {
  item: PlannedChange;
  named: ItemName;
  /** True to leave out the head: the page says which item it is. */
  bare: boolean;
}

function ChangeView({ item, named, bare }: ChangeViewProps) {
  const t = useText(texts);
  const language = useLanguage();
  const { kind } = named;
  // A new item is named by the plan alone.
  const given = item.differences.find(({ path }) => path === 'name')?.after;
  const name = item.action === 'create' ? nameIn(given, language) || item.code : named.name;
  const names = useActionNames();
  return (
    <section className={classes.change} aria-label={`${kind}: ${name}`}>
      {!bare && (
        <header className={classes.head}>
          <Mark tone={TONES[item.action] ?? 'good'}>{names[item.action] ?? item.action}</Mark>
          <span>
            <span className={classes.section}>{kind}:</span> {name}
          </span>
          {name !== item.code && <code className={classes.section}>{item.code}</code>}
        </header>
      )}
      {item.version !== undefined && <VersionStep step={item.version} />}
      <Notes item={item} />
      {item.differences.length > 0 && <Differences item={item} />}
      {item.action === 'change' && item.differences.length === 0 && (
        <Text size="xs" c="dimmed">
          {t.indirect}
        </Text>
      )}
      {item.moreDifferences > 0 && (
        <Text size="xs" c="dimmed">
          {t.more(item.moreDifferences)}
        </Text>
      )}
    </section>
  );
}

/** The table of the differences. The name of a place shows its path in the bundle when the pointer rests on it. */
function Differences({ item }: { item: PlannedChange }) {
  const t = useText(texts);
  const placeName = usePlaceNames(item);
  return (
    <div className={classes.scroll} tabIndex={0} role="group" aria-label={t.wouldChange}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{t.where}</th>
            {item.action !== 'create' && <th scope="col">{t.before}</th>}
            <th scope="col">{t.after}</th>
          </tr>
        </thead>
        <tbody>
          {item.differences
            .map((one) => cutValues(one, t.characters))
            .map(({ path, before, after }) => (
              // A member that is gone and one that is new may have the same index.
              <tr key={`${path} ${after === undefined}`}>
                <th scope="row" title={path}>
                  {path === '' ? t.whole : placeName(path, after ?? before)}
                </th>
                {item.action !== 'create' && <ValueCell kind="before" path={path} value={before} />}
                <ValueCell kind="after" path={path} value={after} />
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}

/** What is to be known beside the differences; losses stand out. */
function Notes({ item }: { item: PlannedChange }) {
  const t = useText(texts);
  const notes = item.notes ?? [];
  const losses = notes.filter(({ reason }) => LOSSES.has(reason));
  const others = notes.filter(({ reason }) => !LOSSES.has(reason));
  return (
    <>
      {others.length > 0 && (
        <Text size="xs" c="dimmed">
          {others.map(problemMessage).join('; ')}
        </Text>
      )}
      {losses.length > 0 && (
        <Notice title={t.wouldLose}>
          <ul className={classes.reasons}>
            {losses.map((note) => (
              <li key={note.message}>{problemMessage(note)}</li>
            ))}
          </ul>
        </Notice>
      )}
    </>
  );
}

function ValueCell({ kind, path, value }: { kind: 'before' | 'after'; path: string; value: unknown }) {
  const t = useText(texts);
  return (
    <td data-kind={value === undefined ? undefined : kind}>
      {value === undefined ? (
        <Text size="xs" c="dimmed">{`— ${t.nothing}`}</Text>
      ) : (
        <PlanValue value={value} property={path.split('.').at(-1) ?? ''} />
      )}
    </td>
  );
}

function VersionStep({ step }: { step: NonNullable<PlannedChange['version']> }) {
  const t = useText(texts);
  if (step.compatible) {
    return (
      <Text size="xs" c="dimmed" className={classes.version}>
        <IconCircleCheck size={14} /> {t.compatible(step.to)}
      </Text>
    );
  }
  return (
    <Notice title={t.incompatible(step.to)}>
      <ul className={classes.reasons}>
        {step.notes.map((note) => (
          <li key={note.message}>{problemMessage(note)}</li>
        ))}
      </ul>
    </Notice>
  );
}
