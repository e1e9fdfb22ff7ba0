/**
 * Explains a user's permissions, in general or on one record, and the roles that grant them. The service evaluates the same
 * rules as for the user's requests.
 */
import { Loader, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconEye, IconEyeOff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type AnswerOf, call } from '../../api/client.ts';
import type { access } from '../../api/types.ts';
import { useHas } from '../../app/session.ts';
import { labelText, useLabels } from '../../fields/labels.ts';
import { PersonPicker, RecordPicker } from '../../fields/pickers.tsx';
import { useText } from '../../i18n/text.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { Mark } from '../config/mark.tsx';
import { AsSeen } from './as-seen.tsx';
import { Matrix, NamesList } from './matrix.tsx';
import { useRightWords } from './model.ts';
import classes from './roles.module.css';
import { Notice } from '../config/notice.tsx';
import { texts } from './texts.ts';

type Answer = AnswerOf<typeof access.explainAccess>;

export function Explanation({ userId, objectId }: { userId: string | null; objectId: string | null }) {
  const t = useText(texts);
  const has = useHas();
  const navigate = useNavigate();
  const go = (user: string | null, object: string | null): void => {
    const parts = ['roles', '_person', user, user === null ? null : object].filter((part) => part !== null);
    void navigate({ to: '/admin/$', params: { _splat: parts.join('/') } });
  };
  const explained = useQuery({
    queryKey: ['access', userId, objectId],
    queryFn: ({ signal }) =>
      call<typeof access.explainAccess>('GET', '/access/explanation', {
        query: { userId: userId ?? '', objectId: objectId ?? undefined },
        signal,
      }),
    enabled: userId !== null,
    staleTime: 0,
  });
  return (
    <Page
      title={t.viewAs}
      hint={t.explainHint}
      {...(has('config.manage') ? { back: { label: t.title, href: '/admin/roles' } } : {})}
    >
      <Panel>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          <PersonPicker label={t.person} value={userId} onChange={(id) => go(id, objectId)} />
          <RecordPicker
            label={t.record}
            placeholder={t.recordHint}
            value={objectId}
            disabled={userId === null}
            onChange={(id) => go(userId, id)}
          />
        </SimpleGrid>
      </Panel>
      <Stack gap="sm" mt="sm">
        <FaultAlert error={explained.error} retry={() => void explained.refetch()} />
        {explained.isFetching && explained.data === undefined && <Loader size="sm" />}
        {explained.data !== undefined && <Explained answer={explained.data} />}
      </Stack>
    </Page>
  );
}

function Explained({ answer }: { answer: Answer }) {
  const t = useText(texts);
  const words = useRightWords();
  const names = new Map(answer.roles.map(({ code, name }) => [code, name]));
  const labels = useLabels(answer.roles.flatMap((role) => role.held.map(({ id }) => id)));
  const rights = [...new Set(answer.roles.flatMap((role) => role.rights))];
  if (answer.roles.length === 0) return <Notice title={t.noRoles} />;
  return (
    <>
      {answer.user.state === 'ARCHIVED' && <Notice title={t.archivedPerson} />}
      {answer.result !== null && <Outcome result={answer.result} type={answer.object?.typeCode} />}
      {answer.object !== null && answer.result?.actions.includes('read') === true && (
        <div>
          <AsSeen
            key={answer.object.id}
            recordId={answer.object.id}
            name={answer.user.displayName}
            read={answer.result.read}
            write={answer.result.actions.includes('update') ? answer.result.write : []}
          />
        </div>
      )}
      <div>
        <Panel title={answer.result === null ? t.onRecords : t.whatGives}>
          {answer.grants.length === 0 ? (
            <Text size="sm" c="dimmed">
              {answer.object === null ? t.noRecords : t.noGrant}
            </Text>
          ) : (
            <Matrix
              label={t.matrix}
              beforeTitle={t.roleOf}
              grants={answer.grants.map((grant, index) => ({
                ...grant,
                key: String(index),
                dim: grant.holds === false,
                before: <GrantHead role={names.get(grant.role) ?? grant.role} holds={grant.holds} />,
              }))}
            />
          )}
        </Panel>
      </div>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm">
        <div>
          <Panel title={t.roles}>
            <ul className={classes.list}>
              {answer.roles.map((role) => (
                <li key={role.id}>
                  <strong>{role.name}</strong>
                  <small>
                    {role.held
                      .map((one) =>
                        one.kind === 'user' ? t.directly : `${t.through} ${labelText(labels.get(one.id)) ?? one.code}`,
                      )
                      .join(', ')}
                  </small>
                </li>
              ))}
            </ul>
          </Panel>
        </div>
        <div>
          <Panel title={t.rights}>
            {rights.length === 0 ? (
              <Text size="sm" c="dimmed">
                {t.noRights}
              </Text>
            ) : (
              <ul className={classes.list}>
                {rights.map((right) => (
                  <li key={right}>
                    <strong>{words.right(right)}</strong>
                    <small>
                      {answer.roles
                        .filter((role) => role.rights.includes(right))
                        .map(({ name }) => name)
                        .join(', ')}
                    </small>
                  </li>
                ))}
              </ul>
            )}
          </Panel>
        </div>
      </SimpleGrid>
    </>
  );
}

function GrantHead({ role, holds }: { role: string; holds: boolean | null }) {
  const t = useText(texts);
  return (
    <span className={classes.grantHead}>
      {role}
      {holds !== null && <Mark tone={holds ? 'good' : 'off'}>{holds ? t.holds : t.holdsNot}</Mark>}
    </span>
  );
}

function Outcome({ result, type }: { result: NonNullable<Answer['result']>; type: string | undefined }) {
  const t = useText(texts);
  const words = useRightWords();
  const sees = result.actions.includes('read');
  return (
    <Panel
      title={
        <span className={classes.outcome} data-sees={sees || undefined}>
          {sees ? <IconEye size={16} /> : <IconEyeOff size={16} />} {sees ? t.sees : t.seesNot}
        </span>
      }
    >
      <dl className={classes.facts}>
        <dt>{t.mayDo}</dt>
        <dd>
          {result.actions.length === 0 ? t.none : result.actions.map((action) => words.action(action)).join(', ')}
        </dd>
        <dt>{t.read}</dt>
        <dd>
          <NamesList names={result.read} type={type} />
        </dd>
        <dt>{t.write}</dt>
        <dd>
          <NamesList names={result.write} type={type} />
        </dd>
      </dl>
    </Panel>
  );
}
