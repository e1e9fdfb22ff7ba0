/** The impact of a plan, before it is applied: access, records that no longer fit, due times, and what stops working. */
import { Loader, Stack, Text } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { callWithMeta } from '../../api/client.ts';
import type { configuration } from '../../api/types.ts';
import { useFormats } from '../../i18n/format.ts';
import { useText } from '../../i18n/text.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { fieldTexts, impactTexts, reasonTexts } from './impact-texts.ts';
import { Notice } from './mark.tsx';
import { useItemNames } from './place-names.ts';
import classes from './plan-view.module.css';
import type { BundleBody } from './queries.ts';

type Impact = NonNullable<Awaited<ReturnType<typeof loadImpact>>>;
type Access = Impact['roles'][number];
type Examples = Access['records'][number]['examples'];

/** Lines of each list; the sums count the others too. */
const MAX_LINES = 20;

async function loadImpact(body: BundleBody, signal: AbortSignal) {
  const wanted = { ...body, impact: true };
  const { meta } = await callWithMeta<typeof configuration.plan>('POST', '/config/plan', { body: wanted, signal });
  return meta.impact ?? null;
}

const impactQuery = (body: BundleBody) =>
  queryOptions({
    queryKey: ['config', 'impact', body],
    queryFn: ({ signal }) => loadImpact(body, signal),
    retry: false,
    staleTime: 0,
    gcTime: 10_000,
    refetchOnWindowFocus: false,
  });

export function ImpactView({ body }: { body: BundleBody }) {
  const t = useText(impactTexts);
  const impact = useQuery(impactQuery(body));
  return (
    <section aria-label={t.title} aria-busy={impact.isPending}>
      <Text fw={600} size="sm" mb={4}>
        {t.title}
      </Text>
      {impact.isPending && <Loader size="xs" />}
      <FaultAlert error={impact.error} />
      {impact.data !== undefined && impact.data !== null && <ImpactParts impact={impact.data} />}
    </section>
  );
}

function ImpactParts({ impact }: { impact: Impact }) {
  const t = useText(impactTexts);
  const reasons: Readonly<Record<string, string>> = useText(reasonTexts);
  const format = useFormats();
  const { roles, people, constraints, states, sla, broken, totals } = impact;
  const nameOf = useItemNames(['types', 'roles', 'slaPolicies', ...broken.map(({ section }) => section)]);
  const none = Object.values(totals).every((count) => count === 0) && sla.length === 0;
  const unlisted = impact.affectedPeople - people.length;
  const ofField = ({ path, records, examples }: Impact['constraints'][number]): Line => [
    path,
    `${t.records(records)}${named(examples)}`,
  ];
  const ofState = ({ type, state, records, examples }: Impact['states'][number]): Line => [
    `${nameOf('types', type).name} › ${state}`,
    `${t.records(records)}${named(examples)}`,
  ];
  const ofPolicy = ({ policy, moved, earliest, breachedAtOnce }: Impact['sla'][number]): Line => {
    const said = [t.moved(moved)];
    if (earliest !== null) said.push(t.earliest(format.instant(earliest)));
    if (breachedAtOnce > 0) said.push(t.breached(breachedAtOnce));
    return [nameOf('slaPolicies', policy).name, said.join(', ')];
  };
  return (
    <Stack gap="xs">
      {none && <Text size="sm">{t.none}</Text>}
      {!impact.complete && <Notice title={t.incomplete} />}
      {!impact.exact && (
        <Text size="xs" c="dimmed">
          {impact.errorBound === null ? t.unfinished : t.inexact(impact.errorBound)}
        </Text>
      )}
      <Lines
        title={t.roles}
        lines={roles.map((one) => [nameOf('roles', one.role).name, <AccessLines key={one.role} access={one} />])}
      />
      <Lines
        title={unlisted > 0 ? t.peopleMore(impact.affectedPeople) : t.people}
        lines={people.map((one) => [one.displayName, <AccessLines key={one.id} access={one} />])}
      />
      <Lines title={t.invalid} lines={[...constraints.map(ofField), ...states.map(ofState)]} />
      <Lines title={t.sla} lines={sla.map(ofPolicy)} />
      <Lines
        title={t.broken}
        lines={broken.map(({ section, code, reason }) => {
          const { kind, name } = nameOf(section, code);
          return [`${kind}: ${name}`, reasons[reason] ?? reason];
        })}
      />
    </Stack>
  );
}

type Line = readonly [name: string, said: ReactNode];

/** A list of names with what is said about each; nothing if it is empty. */
function Lines({ title, lines }: { title: string; lines: readonly Line[] }) {
  const t = useText(impactTexts);
  if (lines.length === 0) return null;
  return (
    <div>
      <Text size="xs" c="dimmed">
        {title}
      </Text>
      <dl className={classes.properties}>
        {lines.slice(0, MAX_LINES).map(([name, said]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{said}</dd>
          </div>
        ))}
      </dl>
      {lines.length > MAX_LINES && <Text size="xs">{t.more(lines.length - MAX_LINES)}</Text>}
    </div>
  );
}

const named = (examples: Examples): string =>
  examples.length === 0 ? '' : ` (${examples.map(({ id, number }) => number ?? id).join(', ')})`;

function AccessLines({ access }: { access: Pick<Access, 'records' | 'fields'> }) {
  const t = useText(impactTexts);
  const nameOf = useItemNames(['types']);
  const typeName = (code: string): string => nameOf('types', code).name;
  const fields = useText(fieldTexts);
  const lines = [
    ...access.records.map(({ type, gained, lost, writable, examples }) => {
      const parts = [
        [lost, t.unreadable],
        [gained, t.readable],
        [writable.lost, t.unwritable],
        [writable.gained, t.writable],
      ] as const;
      const said = parts.flatMap(([count, words]) => (count === 0 ? [] : [words(count)]));
      return `${typeName(type)}: ${said.join(', ')}${named(examples)}`;
    }),
    ...access.fields.map(({ type, field, access: kind, change, records, examples }) => {
      const said = `${typeName(type)} › ${field}: ${fields[`${kind} ${change}`]}`;
      return records === 0 ? said : `${said} (${t.records(records)})${named(examples)}`;
    }),
  ];
  return lines.slice(0, MAX_LINES).map((line) => <div key={line}>{line}</div>);
}
