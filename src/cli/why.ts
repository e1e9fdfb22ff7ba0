/** `docket why`: explains how the service decides a request of a user. */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Explanation } from '../domain/access/index.ts';
import { type Environment, type Json, output, printable } from './command.ts';
import { onTarget } from './select-target.ts';
import type { ExplainedRequest } from './target.ts';

type Step = Explanation['steps'][number];
type RecordStep = Extract<Step, { kind: 'record' }>;
type Condition = RecordStep['grants'][number]['conditions'][number];

const valueText = (value: unknown): string => JSON.stringify(value) ?? 'nothing';

function conditionLine({ field, operator, value, actual, hidden, holds }: Condition): string {
  const compared = hidden ? '(values hidden)' : `${valueText(value)}, value ${valueText(actual)}`;
  return `${field} ${operator} ${compared}${holds === null ? '' : holds ? ': holds' : ': does not hold'}`;
}

function verdict({ held, missing }: { held: boolean; missing: boolean }): string {
  if (held) return 'allowed';
  return missing ? 'MISSING' : 'not allowed';
}

function recordLines({ type, object, grants, actions, fields, transitions }: RecordStep): string[] {
  const name = object === null ? '' : ` ${object.number ?? object.id ?? '(new record)'}`;
  const by = (indexes: readonly number[]): string => {
    const roles = [...new Set(indexes.flatMap((index) => grants[index]?.role ?? []))];
    return roles.length === 0 ? '' : ` by ${roles.join(', ')}`;
  };
  return [
    `record ${type}${name}:`,
    ...grants.flatMap(({ role, holds, conditions, whereHidden }) => [
      `  grant of role ${role}${holds === null ? '' : holds ? ': applies' : ': does not apply'}${whereHidden ? ' (condition hidden)' : ''}`,
      ...conditions.map((condition) => `    ${conditionLine(condition)}`),
    ]),
    ...(grants.length === 0 ? ['  no role of the user has a grant'] : []),
    ...actions.map((one) => `  action ${one.action}: ${verdict(one)}${by(one.grants)}`),
    ...fields.map((one) => `  ${one.access} ${one.field}: ${verdict(one)}${by(one.grants)}`),
    ...transitions.map((one) => `  transition ${one.transition}: ${verdict(one)}${by(one.grants)}`),
  ];
}

const passed = (ok: boolean | null): string => (ok === null ? 'not shown' : ok ? 'passed' : 'NOT PASSED');

function stepLines(step: Step): string[] {
  switch (step.kind) {
    case 'caller':
      return [`user ${step.login}: ${step.accepted ? 'active' : 'NOT ACCEPTED (archived, or the key has ended)'}`];
    case 'scope':
      return [`scope ${step.scope}: ${verdict(step)}`];
    case 'right': {
      const roles = step.roles.length === 0 ? '' : ` by ${step.roles.join(', ')}`;
      return [`right ${step.right}${step.required ? '' : ' (optional)'}: ${verdict(step)}${roles}`];
    }
    case 'records':
      return [`action ${step.action} on the records that the request refers to: MISSING`];
    case 'record':
      return recordLines(step);
    case 'state':
      return [`state ${step.state ?? '(hidden)'}: ${passed(step.passed)}`];
    case 'revision':
      return [`revision ${step.expected} expected, ${step.current ?? 'not shown'} stored: ${passed(step.passed)}`];
    case 'workflow':
      return [
        `transition ${step.transition} from state ${step.state ?? '(hidden)'}: ${passed(step.passed)}`,
        ...(step.leaves !== false ? [] : ['  it does not start in this state']),
        ...step.conditions.map((condition) => `  ${conditionLine(condition)}`),
      ];
    case 'refusal':
      return [
        `refused with ${step.code}: ${step.message}`,
        ...step.details.map(({ path, message }) => `  ${path}: ${message}`),
      ];
  }
}

/** The explanation as lines of text. */
export function explanationLines({ status, code, steps }: Explanation): string[] {
  const lines = [`${status}${code === undefined ? '' : ` ${code}`}`, ...steps.flatMap(stepLines)];
  return lines.map(printable);
}

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'] as const;

/** @throws Error for a body that is not JSON */
async function bodyOf(text: string): Promise<unknown> {
  const json = text.startsWith('@') ? await readFile(text.slice(1), 'utf8') : text;
  try {
    return JSON.parse(json) as unknown;
  } catch {
    throw new Error('The body is not JSON. Give JSON, or @FILE with JSON.');
  }
}

export function whyCommand(docket: Command, environment: Environment): void {
  docket
    .command('why <method> <path> [body]')
    .description('Explain how a request of a user is decided, without running it: every check, and what is missing.')
    .requiredOption('--as <login>', 'the user, by login or id')
    .option('--json', 'print {status, code, steps}')
    .action(
      async (name: string, path: string, body: string | undefined, flags: Json & { as: string }, command: Command) => {
        const method = METHODS.find((one) => one === name.toUpperCase());
        if (method === undefined)
          return command.error(`the method must be one of ${METHODS.join(', ')}`, { exitCode: 2 });
        const given = body === undefined ? {} : { body: await bodyOf(body) };
        const request: ExplainedRequest = { user: flags.as, method, path, ...given };
        const explanation = await onTarget(environment, command, (target) => target.explain(request));
        output(flags.json === true).result(explanation, explanationLines(explanation));
      },
    );
}
