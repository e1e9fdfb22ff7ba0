/** Groups: the list with its archive, a new group, and a group with its members (users and groups). */
import { Loader, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { call } from '../../api/client.ts';
import type { identity, identityAdmin } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { codeAfter } from '../config/codes.ts';
import { useAction } from '../../ui/action.ts';
import type { Column } from '../../ui/data-table.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { FormFrame, useForm } from '../../ui/form.tsx';
import { Page, Panel, type ScreenProps } from '../../ui/page.tsx';
import type { LocalizedText } from '../config/queries.ts';
import { AddFrom, isNamed, MemberList, Roster, StateBadge, StoredName, textOf, TurnButton } from '../users/parts.tsx';
import classes from '../users/users.module.css';
import { archivedQuery, type GroupRow, groupsQuery, IDENTITY, membersQuery, usersQuery } from '../users/queries.ts';
import { texts } from '../users/texts.ts';
import { isActive, isArchived } from '../../../../src/contract/state.ts';

export default function GroupsPage({ path }: ScreenProps) {
  const [own] = path;
  return own === undefined ? <GroupList /> : <GroupPage key={own} id={own === 'new' ? undefined : own} />;
}

function GroupList() {
  const t = useText(texts);
  const groups = useQuery(groupsQuery);
  const archived = useQuery(archivedQuery);
  const members = useQuery(membersQuery({}));
  const counts = useMemo(() => Map.groupBy(members.data ?? [], ({ groupId }) => groupId), [members.data]);
  const columns = useMemo(
    (): Column<GroupRow>[] => [
      { key: 'name', title: t.name, value: (row) => row.name },
      { key: 'code', title: t.code, value: (row) => row.code, render: (row) => <code>{row.code}</code>, minor: true },
      {
        key: 'members',
        title: t.members,
        value: (row) => counts.get(row.id)?.length ?? 0,
        align: 'end',
        width: '8rem',
      },
    ],
    [t, counts],
  );
  return (
    <Roster
      section="groups"
      title={t.groups}
      hint={t.groupsHint}
      create={t.newGroup}
      screen="groups"
      query={groups}
      archived={archived.data?.groups}
      columns={columns}
    />
  );
}

function GroupPage({ id }: { id: string | undefined }) {
  const t = useText(texts);
  const navigate = useNavigate();
  const groups = useQuery(groupsQuery);
  const archived = useQuery(archivedQuery);
  const back = { label: t.groups, href: '/admin/groups' };
  if (id === undefined) {
    return (
      <Page title={t.newGroup} back={back} narrow>
        <Panel>
          <GroupForm
            onCreated={(group) => void navigate({ to: '/admin/$', params: { _splat: `groups/${group.id}` } })}
          />
        </Panel>
      </Page>
    );
  }
  const group = [...(groups.data ?? []), ...(archived.data?.groups ?? [])].find(
    (one) => one.id === id || one.code === id,
  );
  if (group === undefined) {
    return (
      <Page title={t.groups} back={back}>
        {groups.isPending || archived.isPending ? <Loader size="sm" /> : <Empty>{t.unknown}</Empty>}
      </Page>
    );
  }
  const question = { title: t.archiveGroup(group.name), body: t.archiveGroupBody };
  return (
    <Page
      title={group.name}
      hint={
        <>
          <code>{group.code}</code> {isArchived(group) && <StateBadge state={group.state} />}
        </>
      }
      back={back}
      actions={<TurnButton kind="groups" row={group} question={question} />}
    >
      <div className={classes.two}>
        <Panel title={t.members}>
          <Members group={group} />
        </Panel>
        <Panel title={t.details}>
          <GroupForm key={group.revision} group={group} />
        </Panel>
      </div>
    </Page>
  );
}

function GroupForm({ group, onCreated }: { group?: GroupRow; onCreated?: (group: GroupRow) => void }) {
  const t = useText(texts);
  const isNew = group === undefined;
  const archived = isArchived(group);
  const form = useForm({
    start: { name: undefined as LocalizedText | undefined, code: '' },
    send: ({ name, code }): Promise<GroupRow> =>
      isNew
        ? call<typeof identity.createGroup>('POST', '/identity/groups', { body: { code, name: textOf(name) } })
        : call<typeof identityAdmin.changeGroup>('PATCH', `/identity/groups/${group.id}`, {
            body: { expectedRevision: group.revision, ...(name === undefined ? {} : { name }) },
          }),
    ready: ({ name }) => !archived && isNamed(name),
    touches: IDENTITY,
    done: isNew ? t.created : t.saved,
    after: (saved) => onCreated?.(saved),
  });
  return (
    <FormFrame form={form} label={isNew ? t.create : t.save}>
      <StoredName
        section="groups"
        row={group}
        disabled={archived}
        {...form.input('name')}
        onChange={(name) =>
          form.set({ name, ...(isNew ? { code: codeAfter(form.values.code, form.values.name, name) } : {}) })
        }
      />
      {isNew && <TextInput label={t.code} description={t.codeHint} required {...form.text('code')} />}
    </FormFrame>
  );
}

function Members({ group }: { group: GroupRow }) {
  const t = useText(texts);
  const users = useQuery(usersQuery);
  const groups = useQuery(groupsQuery);
  const members = useQuery(membersQuery({ groupId: group.id }));
  const people = new Map(users.data?.map(({ id, displayName }) => [id, displayName]));
  const names = new Map(groups.data?.map(({ id, name }) => [id, name]));
  const held = new Set(members.data?.map(({ memberId }) => memberId));
  const add = useAction({
    run: ([memberId, memberType]: [string, 'user' | 'group']) =>
      call<typeof identity.addGroupMember>('POST', '/identity/group-memberships', {
        body: { groupId: group.id, memberId, memberType },
      }),
    touches: IDENTITY,
  });
  const remove = useAction({
    run: (id: string) => call<typeof identityAdmin.removeGroupMember>('DELETE', `/identity/group-memberships/${id}`),
    touches: IDENTITY,
  });
  const lines = (members.data ?? []).map(({ id, memberId, memberType }) =>
    memberType === 'user'
      ? { id, name: people.get(memberId) ?? t.archived, href: `people/${memberId}`, person: true }
      : { id, name: names.get(memberId) ?? t.archived, href: `groups/${memberId}`, mark: t.groupMark },
  );
  return (
    <>
      <FaultAlert error={members.error} />
      <MemberList label={t.members} empty={t.noMembers} lines={lines} onRemove={(id) => remove.mutate(id)} />
      {isActive(group) && (
        <>
          <AddFrom
            label={t.addPerson}
            section="users"
            none={people.size === 0 && users.isSuccess}
            choices={[...people].filter(([id]) => !held.has(id)).map(([value, label]) => ({ value, label }))}
            onAdd={(id) => add.mutate([id, 'user'])}
            pending={add.isPending}
          />
          <AddFrom
            label={t.addGroup}
            section="groups"
            none={false}
            choices={[...names]
              .filter(([id]) => !held.has(id) && id !== group.id)
              .map(([value, label]) => ({ value, label }))}
            onAdd={(id) => add.mutate([id, 'group'])}
            pending={add.isPending}
          />
        </>
      )}
    </>
  );
}
