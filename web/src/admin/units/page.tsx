/** Organizational units: the tree, a new unit, and a unit with its users. */
import { Group, Loader, Select, SimpleGrid, Switch, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import type { identity, identityAdmin } from '../../api/types.ts';
import { PersonPicker } from '../../fields/pickers.tsx';
import { useText } from '../../i18n/text.ts';
import { codeAfter } from '../config/codes.ts';
import { CsvButton } from '../../ui/download.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { FormFrame, useForm } from '../../ui/form.tsx';
import { Page, Panel, type ScreenProps } from '../../ui/page.tsx';
import { CreateButton, missingTexts } from '../config/missing.tsx';
import type { LocalizedText } from '../config/queries.ts';
import { isNamed, MemberList, StateBadge, StoredName, textOf, TurnButton } from '../users/parts.tsx';
import classes from '../users/users.module.css';
import { archivedQuery, IDENTITY, type Unit, unitMembersQuery, unitsQuery, usersQuery } from '../users/queries.ts';
import { texts } from '../users/texts.ts';
import { UnitTree } from './tree.tsx';
import { isArchived } from '../../../../src/contract/state.ts';

export default function UnitsPage({ path }: ScreenProps) {
  const [own, parent] = path;
  if (own === undefined) return <UnitOverview />;
  return own === 'new' ? <NewUnit key={parent ?? ''} parentId={parent ?? null} /> : <UnitPage key={own} id={own} />;
}

function UnitOverview() {
  const t = useText(texts);
  const navigate = useNavigate();
  const [archive, setArchive] = useState(false);
  const units = useQuery(unitsQuery);
  const archived = useQuery(archivedQuery);
  const people = useQuery(usersQuery);
  const missing = useText(missingTexts);
  const shown = [...(units.data ?? []), ...(archive ? (archived.data?.orgUnits ?? []) : [])];
  const create = (
    <CreateButton
      label={t.newUnit}
      onClick={() => void navigate({ to: '/admin/$', params: { _splat: 'units/new' } })}
    />
  );
  return (
    <Page title={t.units} hint={t.unitsHint} actions={create}>
      <FaultAlert error={units.error} retry={() => void units.refetch()} />
      <Group mb="sm" justify="space-between">
        <Switch
          label={t.showArchived}
          checked={archive}
          onChange={(event) => setArchive(event.currentTarget.checked)}
        />
        {shown.length > 0 && (
          <CsvButton
            name={t.units}
            header={[t.name, t.code, t.parent, t.manager, t.location, t.state]}
            rows={() =>
              shown.map((unit) => [
                unit.name,
                unit.code,
                shown.find(({ id }) => id === unit.parentId)?.name,
                people.data?.find(({ id }) => id === unit.managerUserId)?.displayName,
                unit.location,
                isArchived(unit) ? t.archived : t.active,
              ])
            }
          />
        )}
      </Group>
      {units.isPending && <Loader size="sm" />}
      {units.data !== undefined && shown.length === 0 ? (
        <Empty action={create}>{missing.orgUnits}</Empty>
      ) : (
        <UnitTree units={shown} />
      )}
    </Page>
  );
}

function NewUnit({ parentId }: { parentId: string | null }) {
  const t = useText(texts);
  const navigate = useNavigate();
  return (
    <Page title={t.newUnit} back={{ label: t.units, href: '/admin/units' }} narrow>
      <Panel>
        <UnitForm
          parentId={parentId}
          onCreated={(unit) => void navigate({ to: '/admin/$', params: { _splat: `units/${unit.id}` } })}
        />
      </Panel>
    </Page>
  );
}

function UnitPage({ id }: { id: string }) {
  const t = useText(texts);
  const units = useQuery(unitsQuery);
  const archived = useQuery(archivedQuery);
  const users = useQuery(usersQuery);
  const members = useQuery(unitMembersQuery(id));
  const unit = [...(units.data ?? []), ...(archived.data?.orgUnits ?? [])].find((one) => one.id === id);
  const back = { label: t.units, href: '/admin/units' };
  if (unit === undefined) {
    return (
      <Page title={t.units} back={back}>
        {units.isPending || archived.isPending ? <Loader size="sm" /> : <Empty>{t.unknown}</Empty>}
      </Page>
    );
  }
  const people = new Map(users.data?.map((user) => [user.id, user.displayName]));
  const question = { title: t.archiveUnit(unit.name), body: t.archiveUnitBody };
  return (
    <Page
      title={unit.name}
      hint={
        <>
          <code>{unit.code}</code> {isArchived(unit) && <StateBadge state={unit.state} />}
        </>
      }
      back={back}
      actions={<TurnButton kind="org-units" row={unit} question={question} />}
    >
      <div className={classes.two}>
        <Panel title={t.details}>
          <UnitForm key={unit.revision} unit={unit} parentId={unit.parentId} />
        </Panel>
        <Panel title={t.unitPeople}>
          <MemberList
            label={t.unitPeople}
            empty={t.noMembers}
            lines={(members.data ?? []).map(({ id: membership, userId }) => ({
              id: membership,
              name: people.get(userId) ?? t.archived,
              href: `people/${userId}`,
              person: true,
            }))}
          />
        </Panel>
      </div>
    </Page>
  );
}

interface UnitFormProps {
  unit?: Unit;
  parentId: string | null;
  onCreated?: (unit: Unit) => void;
}

function UnitForm({ unit, parentId, onCreated }: UnitFormProps) {
  const t = useText(texts);
  const units = useQuery(unitsQuery);
  const isNew = unit === undefined;
  const archived = isArchived(unit);
  const form = useForm({
    start: {
      name: undefined as LocalizedText | undefined,
      code: '',
      parent: parentId,
      manager: unit?.managerUserId ?? null,
      location: unit?.location ?? '',
    },
    send: (values) => (isNew ? createUnit(values) : changeUnit(unit, values)),
    ready: ({ name }) => !archived && (isNew || name !== undefined ? isNamed(name) : true),
    touches: IDENTITY,
    done: isNew ? t.created : t.saved,
    after: (saved) => onCreated?.(saved),
  });
  const parents = (units.data ?? []).filter(({ id }) => id !== unit?.id);
  return (
    <FormFrame form={form} label={isNew ? t.create : t.save}>
      <StoredName
        section="orgUnits"
        row={unit}
        disabled={archived}
        {...form.input('name')}
        onChange={(name) =>
          form.set({ name, ...(isNew ? { code: codeAfter(form.values.code, form.values.name, name) } : {}) })
        }
      />
      {isNew && <TextInput label={t.code} description={t.codeHint} {...form.text('code')} />}
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <Select
          label={t.parent}
          data={parents.map((one) => ({ value: one.id, label: one.name }))}
          placeholder={t.top}
          disabled={archived}
          searchable
          clearable
          clearButtonProps={{ 'aria-label': t.top }}
          {...form.input('parent')}
        />
        <PersonPicker label={t.manager} disabled={archived} {...form.input('manager')} />
      </SimpleGrid>
      <TextInput label={t.location} disabled={archived} {...form.text('location')} />
    </FormFrame>
  );
}

interface UnitValues {
  name: LocalizedText | undefined;
  code: string;
  parent: string | null;
  manager: string | null;
  location: string;
}

function createUnit({ name, code, parent, manager, location }: UnitValues): Promise<Unit> {
  return call<typeof identity.createUnit>('POST', '/identity/org-units', {
    body: {
      name: textOf(name),
      ...(code === '' ? {} : { code }),
      ...(parent === null ? {} : { parentId: parent }),
      ...(manager === null ? {} : { managerUserId: manager }),
      ...(location === '' ? {} : { location }),
    },
  });
}

function changeUnit(unit: Unit, { name, parent, manager, location }: UnitValues): Promise<Unit> {
  return call<typeof identityAdmin.changeUnit>('PATCH', `/identity/org-units/${unit.id}`, {
    body: {
      expectedRevision: unit.revision,
      ...(name === undefined ? {} : { name }),
      parentId: parent,
      managerUserId: manager,
      location: location === '' ? null : location,
    },
  });
}
