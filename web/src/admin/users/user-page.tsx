/** One user: properties, unit and groups. */
import { Button, Group, Loader, PasswordInput, Select, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type SyntheticEvent, useState } from 'react';
import { call } from '../../api/client.ts';
import type { access, identity, identityAdmin } from '../../api/types.ts';
import { useHas, useSession } from '../../app/session.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, type PageProps, Panel } from '../../ui/page.tsx';
import { AddFrom, MemberList, StateBadge, TurnButton } from './parts.tsx';
import { useCreateFirst } from '../config/missing.tsx';
import classes from './users.module.css';
import { UserForm } from './user-form.tsx';
import { archivedQuery, groupsQuery, IDENTITY, membersQuery, unitsQuery, type User, usersQuery } from './queries.ts';
import { texts } from './texts.ts';
import { isActive, isArchived } from '../../../../src/contract/state.ts';

export function UserPage({ id }: { id: string | undefined }) {
  const t = useText(texts);
  const navigate = useNavigate();
  const users = useQuery(usersQuery);
  const archived = useQuery(archivedQuery);
  const back = { label: t.people, href: '/admin/people' };
  if (id === undefined) {
    return (
      <Page title={t.newPerson} back={back} narrow>
        <Panel>
          <UserForm onCreated={(user) => void navigate({ to: '/admin/$', params: { _splat: `people/${user.id}` } })} />
        </Panel>
      </Page>
    );
  }
  const user = [...(users.data ?? []), ...(archived.data?.users ?? [])].find((one) => one.id === id);
  if (user === undefined) {
    return (
      <Page title={t.people} back={back}>
        {users.isPending || archived.isPending ? <Loader size="sm" /> : <Empty>{t.unknown}</Empty>}
      </Page>
    );
  }
  return <KnownUser user={user} back={back} />;
}

function KnownUser({ user, back }: { user: User; back: NonNullable<PageProps['back']> }) {
  const t = useText(texts);
  const has = useHas();
  const navigate = useNavigate();
  const question = { title: t.archivePerson(user.displayName), body: t.archivePersonBody };
  return (
    <Page
      title={user.displayName}
      hint={
        <>
          <code>{user.login}</code> {isArchived(user) && <StateBadge state={user.state} />}
        </>
      }
      back={back}
      actions={
        <>
          {has('role.assign') && (
            <Button
              variant="default"
              onClick={() => void navigate({ to: '/admin/$', params: { _splat: `roles/_person/${user.id}` } })}
            >
              {t.access}
            </Button>
          )}
          <TurnButton kind="users" row={user} question={question} />
        </>
      }
    >
      <div className={classes.two}>
        <Panel title={t.details}>
          <UserForm key={user.revision} user={user} />
        </Panel>
        <div>
          <Panel title={t.unit}>
            <UnitChoice user={user} />
          </Panel>
          <Panel title={t.memberOf}>
            <Groups user={user} />
          </Panel>
          {isActive(user) && (
            <Panel title={t.password}>
              <PasswordForm user={user} />
            </Panel>
          )}
        </div>
      </div>
    </Page>
  );
}

function UnitChoice({ user }: { user: User }) {
  const t = useText(texts);
  const units = useQuery(unitsQuery);
  const from = user.organizationUnitId;
  const move = useAction({
    run: async (to: string | null): Promise<unknown> => {
      if (to !== null) {
        const body = { organizationUnitId: to, userId: user.id, expectedOrganizationUnitId: from };
        return await call<typeof identity.setOrgMember>('POST', '/identity/org-memberships', { body });
      }
      if (from === null) return undefined;
      const query = { organizationUnitId: from };
      const all = await call<typeof identityAdmin.listOrgMembers>('GET', '/identity/org-memberships', { query });
      const own = all.find((one) => one.userId === user.id);
      if (own === undefined) return undefined;
      return await call<typeof identityAdmin.removeOrgMember>('DELETE', `/identity/org-memberships/${own.id}`, {
        body: { expectedOrganizationUnitId: from },
      });
    },
    touches: IDENTITY,
    done: t.saved,
  });
  return (
    <Select
      aria-label={t.unit}
      {...useCreateFirst('orgUnits', units.data?.length)}
      data={(units.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      value={from}
      placeholder={t.none}
      disabled={isArchived(user) || move.isPending}
      onChange={(value) => move.mutate(value)}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': t.none }}
    />
  );
}

function Groups({ user }: { user: User }) {
  const t = useText(texts);
  const groups = useQuery(groupsQuery);
  const memberships = useQuery(membersQuery({ memberId: user.id }));
  const names = new Map(groups.data?.map(({ id, name }) => [id, name]));
  const held = new Set(memberships.data?.map(({ groupId }) => groupId));
  const add = useAction({
    run: (groupId: string) =>
      call<typeof identity.addGroupMember>('POST', '/identity/group-memberships', {
        body: { groupId, memberId: user.id, memberType: 'user' },
      }),
    touches: IDENTITY,
  });
  const remove = useAction({
    run: (id: string) => call<typeof identityAdmin.removeGroupMember>('DELETE', `/identity/group-memberships/${id}`),
    touches: IDENTITY,
  });
  return (
    <>
      <FaultAlert error={memberships.error} />
      <MemberList
        label={t.memberOf}
        empty={t.noGroups}
        lines={(memberships.data ?? []).map(({ id, groupId }) => ({
          id,
          name: names.get(groupId) ?? t.archived,
          href: `groups/${groupId}`,
        }))}
        onRemove={(id) => remove.mutate(id)}
      />
      {isActive(user) && (
        <AddFrom
          section="groups"
          none={groups.data?.length === 0}
          label={t.addToGroup}
          choices={(groups.data ?? [])
            .filter(({ id }) => !held.has(id))
            .map(({ id, name }) => ({ value: id, label: name }))}
          onAdd={(id) => add.mutate(id)}
          pending={add.isPending}
        />
      )}
    </>
  );
}

/** Minimum length, as in the service (src/domain/access/contract.ts). */
const SHORTEST = 12;

export function PasswordForm({ user }: { user: User }) {
  const t = useText(texts);
  const own = useSession().user.id === user.id;
  const [password, setPassword] = useState('');
  const [left, setLeft] = useState(false);
  const save = useAction({
    run: () => call<typeof access.setPassword>('POST', `/identity/users/${user.id}/password`, { body: { password } }),
    done: t.passwordSet,
    after: () => {
      setPassword('');
      setLeft(false);
    },
    // The current user's own session ends too: the next request leads to the sign-in page.
    touches: own ? [[]] : [],
    quiet: true,
  });
  const short = password.length < SHORTEST;
  const send = async (event: SyntheticEvent): Promise<void> => {
    event.preventDefault();
    if (short) {
      setLeft(true);
      return;
    }
    const question = {
      title: t.passwordTitle(user.displayName),
      body: own ? t.passwordOwn : t.passwordBody,
      yes: t.setPassword,
    };
    if (await confirm(question)) save.mutate();
  };
  return (
    <form onSubmit={(event) => void send(event)}>
      <Stack gap="sm">
        <Text size="xs" c="dimmed">
          {t.passwordHint}
        </Text>
        <PasswordInput
          label={t.password}
          value={password}
          autoComplete="new-password"
          onChange={(event) => setPassword(event.currentTarget.value)}
          onBlur={() => setLeft(password !== '')}
          error={left && short ? t.passwordShort(SHORTEST) : undefined}
          visibilityToggleButtonProps={{ 'aria-label': t.showPassword }}
        />
        <FaultAlert error={save.error} />
        <Group>
          <Button type="submit" variant="default" loading={save.isPending} disabled={password === ''}>
            {t.setPassword}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
