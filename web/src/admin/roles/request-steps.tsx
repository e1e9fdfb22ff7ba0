/** Shows how a request is decided: each check, and what is missing (docs/spec/access.md#explain-a-request). */
import { Loader, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type AnswerOf, type BodyOf, call } from '../../api/client.ts';
import type { accessExplain } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { FaultAlert, type RefusalDialogProps, useNotedFaultText } from '../../ui/fault.tsx';
import { Mark } from '../config/mark.tsx';
import { useRightWords } from './model.ts';
import { requestTexts } from './request-texts.ts';
import classes from './roles.module.css';
import { Dialog } from '../../ui/dialog.tsx';

/** z-index values: dialogs 200, confirmations 250, dropdowns 300. */
const ABOVE_QUESTIONS = 260;

export type RequestBody = BodyOf<typeof accessExplain.explainRequest>;
type Answer = AnswerOf<typeof accessExplain.explainRequest>;
type Step = Answer['steps'][number];
type RecordStep = Extract<Step, { kind: 'record' }>;
type Condition = RecordStep['grants'][number]['conditions'][number];

export function RequestSteps({ request }: { request: RequestBody }) {
  const t = useText(requestTexts);
  const explained = useQuery({
    queryKey: ['access', 'request', request],
    queryFn: ({ signal }) =>
      call<typeof accessExplain.explainRequest>('POST', '/access/explain-request', { body: request, signal }),
    retry: false,
    staleTime: 0,
    gcTime: 10_000,
    refetchOnWindowFocus: false,
  });
  const { data } = explained;
  return (
    <section aria-label={t.result} aria-busy={explained.isFetching}>
      {explained.isPending && <Loader size="sm" />}
      <FaultAlert error={explained.error} />
      {data !== undefined && (
        <Stack gap="xs">
          <Mark tone={data.status < 400 ? 'good' : 'warn'}>
            {data.status < 400 ? t.wouldSucceed(data.status) : t.wouldFail(data.status, data.code ?? '')}
          </Mark>
          <ul className={classes.list}>
            {data.steps.map((step, index) => (
              // Steps have no id, and their order never changes.
              // oxlint-disable-next-line react/no-array-index-key
              <li key={index}>
                <StepView step={step} />
              </li>
            ))}
          </ul>
        </Stack>
      )}
    </section>
  );
}

interface LineProps {
  name: ReactNode;
  tone?: 'good' | 'warn' | 'off';
  verdict?: string;
  children?: ReactNode;
}

/** One check with its verdict. */
function Line({ name, tone = 'off', verdict, children }: LineProps) {
  return (
    <div>
      <strong>{name}</strong> {verdict !== undefined && <Mark tone={tone}>{verdict}</Mark>}
      {children !== undefined && <small>{children}</small>}
    </div>
  );
}

interface CheckOutcome {
  held: boolean;
  missing: boolean;
}

function useHeld(): (check: CheckOutcome) => Pick<LineProps, 'tone' | 'verdict'> {
  const t = useText(requestTexts);
  return ({ held, missing }) => {
    if (held) return { tone: 'good', verdict: t.held };
    return missing ? { tone: 'warn', verdict: t.missing } : { tone: 'off', verdict: t.notHeld };
  };
}

function StepView({ step }: { step: Step }) {
  const t = useText(requestTexts);
  const words = useRightWords();
  const held = useHeld();
  const said = useNotedFaultText();
  const ok = (passed: boolean | null): Pick<LineProps, 'tone' | 'verdict'> =>
    passed === null
      ? { verdict: t.hidden }
      : passed
        ? { tone: 'good', verdict: t.passed }
        : { tone: 'warn', verdict: t.notPassed };
  switch (step.kind) {
    case 'caller':
      return <Line name={`${t.user} ${step.login}`} {...(step.accepted ? {} : ok(false))} />;
    case 'scope':
      return <Line name={`${t.scope} ${step.scope}`} {...held(step)} />;
    case 'right':
      return (
        <Line name={`${t.right}: ${words.right(step.right)}`} {...held(step)}>
          {[...(step.required ? [] : [t.optional]), ...step.roles].join(', ')}
        </Line>
      );
    case 'records':
      return <Line name={`${t.named}: ${words.action(step.action)}`} tone="warn" verdict={t.missing} />;
    case 'record':
      return <RecordView step={step} />;
    case 'state':
      return <Line name={`${t.state}: ${step.state ?? t.hidden}`} {...ok(step.passed)} />;
    case 'revision':
      return <Line name={t.revision(step.expected, step.current ?? t.hidden)} {...ok(step.passed)} />;
    case 'workflow':
      return (
        <Line name={t.transition(step.transition, step.state ?? t.hidden)} {...ok(step.passed)}>
          <Conditions conditions={step.conditions} />
        </Line>
      );
    case 'refusal':
      return (
        <Line name={step.code}>
          {[said(step), ...step.details.map(({ path, message }) => `${path}: ${message}`)].join(' ')}
        </Line>
      );
  }
}

/** ` ($myGroups: first-line, vip)`. */
function variableText({ variable, values, more }: NonNullable<Condition['variables']>[number]): string {
  if (values === null) return '';
  const shown = values.map((one) => one.code ?? one.value).join(', ');
  return ` (${variable}: ${shown === '' ? '—' : shown}${more === 0 ? '' : `, +${more}`})`;
}

function Conditions({ conditions }: { conditions: readonly Condition[] }) {
  const t = useText(requestTexts);
  return conditions.map(({ field, operator, value, variables = [], actual, hidden, holds }) => (
    <span key={`${field} ${operator} ${JSON.stringify(value)}`} style={{ display: 'block' }}>
      {`${field} ${operator} ${hidden ? t.hidden : `${JSON.stringify(value)}${variables.map(variableText).join('')}, ${t.value} ${JSON.stringify(actual)}`}${holds === null ? '' : `: ${holds ? t.holds : t.holdsNot}`}`}
    </span>
  ));
}

function RecordView({ step }: { step: RecordStep }) {
  const t = useText(requestTexts);
  const words = useRightWords();
  const held = useHeld();
  const { type, object, grants } = step;
  const by = (indexes: readonly number[]): string =>
    [...new Set(indexes.flatMap((index) => grants[index]?.role ?? []))].join(', ');
  const name = object === null ? '' : (object.number ?? object.id ?? t.newRecord);
  const checks = [
    ...step.actions.map((one) => ({ ...one, name: words.action(one.action) })),
    ...step.fields.map((one) => ({ ...one, name: `${one.access === 'read' ? t.read : t.write} ${one.field}` })),
    ...step.transitions.map((one) => ({ ...one, name: `${t.transitionName} ${one.transition}` })),
  ];
  return (
    <>
      <strong>{`${type} ${name}`}</strong>
      {grants.length === 0 && (
        <Text size="xs" c="dimmed">
          {t.noGrant}
        </Text>
      )}
      <ul className={classes.list}>
        {grants.map(({ role, holds, conditions }, index) => (
          // Grants have no id, and their order never changes.
          // oxlint-disable-next-line react/no-array-index-key
          <li key={`${role} ${index}`}>
            <Line
              name={`${t.role} ${role}`}
              {...(holds === null ? {} : holds ? { tone: 'good', verdict: t.applies } : { verdict: t.appliesNot })}
            >
              <Conditions conditions={conditions} />
            </Line>
          </li>
        ))}
        {checks.map((one) => (
          <li key={one.name}>
            <Line name={one.name} {...held(one)}>
              {by(one.grants)}
            </Line>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The explanation of a refused request, in a dialog. */
export function RefusalDialog({ request, onClose }: RefusalDialogProps) {
  const t = useText(requestTexts);
  return (
    <Dialog opened zIndex={ABOVE_QUESTIONS} onClose={onClose} title={t.title} size="xl">
      <Text size="xs" c="dimmed" mb="sm">
        {`${request.method} ${request.path}`}
      </Text>
      <RequestSteps request={request as RequestBody} />
    </Dialog>
  );
}
