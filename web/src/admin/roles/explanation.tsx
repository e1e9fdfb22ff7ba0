/**
 * Explains a user's permissions, in general or on one record, and the roles that grant them. The service evaluates the same
 * rules as for the user's requests.
 */
import { Loader, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconEye, IconEyeOff, IconPencil } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type AnswerOf, call } from '../../api/client.ts';
import type { access, FieldSchema } from '../../api/types.ts';
import { useHas } from '../../app/session.ts';
import { recordQuery, recordSchemaQuery } from '../../desk/queries.ts';
import { StateBadge } from '../../desk/record/state-badge.tsx';
import { labelText, useLabels } from '../../fields/labels.ts';
import { PersonPicker, RecordPicker } from '../../fields/pickers.tsx';
import { FieldValue } from '../../fields/value.tsx';
import { useText } from '../../i18n/text.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { Mark, Notice } from '../config/mark.tsx';
import { Matrix, NamesList } from './matrix.tsx';
import { type Names, useRightWords } from './model.ts';
import { RequestCheck } from './request-check.tsx';
import classes from './roles.module.css';
import { texts } from './texts.ts';
import { isArchived } from '../../../../src/contract/state.ts';

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
        {userId !== null && <RequestCheck key={`${userId} ${objectId}`} userId={userId} objectId={objectId} />}
      </Stack>
    </Page>
  );
}

function Explained({ answer }: { answer: Answer }) {
  const t = useText(texts);
  if (answer.roles.length === 0) return <Notice title={t.noRoles} />;
  return (
    <>
      {isArchived(answer.user) && <Notice title={t.archivedPerson} />}
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
        <GrantsShown answer={answer} />
      </div>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm">
        <div>
          <RolesHeld answer={answer} />
        </div>
        <div>
          <RightsHeld answer={answer} />
        </div>
      </SimpleGrid>
    </>
  );
}

interface RolesHeldProps {
  answer: Answer;
}

function RolesHeld({ answer }: RolesHeldProps) {
  const t = useText(texts);
  const labels = useLabels(answer.roles.flatMap((role) => role.held.map(({ id }) => id)));
  return (
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
  );
}

interface RightsHeldProps {
  answer: Answer;
}

function RightsHeld({ answer }: RightsHeldProps) {
  const t = useText(texts);
  const words = useRightWords();
  const rights = [...new Set(answer.roles.flatMap((role) => role.rights))];
  return (
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
  );
}

interface GrantsShownProps {
  answer: Answer;
}

function GrantsShown({ answer }: GrantsShownProps) {
  const t = useText(texts);
  const names = new Map(answer.roles.map(({ code, name }) => [code, name]));
  return (
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

interface AsSeenProps {
  recordId: string;
  name: string;
  read: Names;
  write: Names;
}

export function AsSeen({ recordId, name, read, write }: AsSeenProps) {
  const t = useText(texts);
  const record = useQuery({ ...recordQuery(recordId), retry: false });
  const schema = useQuery({ ...recordSchemaQuery(recordId), retry: false });
  const has = (names: Names, code: string): boolean => names === '*' || names.includes(code);
  // The values are loaded with the rights of the current user: values that they may not read are not shown either.
  if (record.error !== null || schema.error !== null) return null;
  if (record.data === undefined || schema.data === undefined) return <Loader size="sm" />;
  const { number, workflowState, values } = record.data;
  const fields = schema.data.fields as FieldSchema[];
  return (
    <Panel title={t.asSeen(name)}>
      <div className={classes.seenHead}>
        {number !== null && <span className="tabular">{number}</span>}
        {workflowState !== null && <StateBadge state={workflowState} />}
      </div>
      <dl className={classes.facts} aria-label={t.asSeen(name)}>
        {fields.map((field) => (
          <div key={field.code} className={classes.seen}>
            <dt>
              {field.name}
              {has(write, field.code) && !field.readOnly && (
                <IconPencil size={12} aria-label={t.mayChange} className={classes.pencil} />
              )}
            </dt>
            <dd>
              {has(read, field.code) ? (
                <FieldValue field={field} value={values[field.code]} recordId={recordId} />
              ) : (
                <Text size="xs" c="dimmed" className={classes.hidden}>
                  <IconEyeOff size={12} /> {t.hidden}
                </Text>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
