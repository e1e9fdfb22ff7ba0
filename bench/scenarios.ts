/** The measured work: for each scenario, the request to the service and the one to the baseline server that does the same. */
import { randomUUID } from 'node:crypto';
import { MEMBERSHIP_SCENARIOS } from './memberships.ts';
import { RIVAL_SCENARIOS } from './rivals/scenarios.ts';
import { MANY_ROLES } from './bundle.ts';
import { get, root, type Scenario, send } from './scenario.ts';
import { ACTIVITY_SCENARIOS } from './scenarios-activity.ts';

const PAGE_SIZE = 25;
/** So that page 1,000 lies within 20,000 records of which three in four are visible. */
const DEEP_PAGE_SIZE = 10;
const DEEP_PAGE = 1000;

function list(query: { docket: string; baseline: string }): Scenario['prepare'] {
  return (state, subject) => {
    const text = get(state, subject, `${root(subject)}?${query[subject]}`);
    return () => ({ text, status: 200 });
  };
}

const BASIC: readonly Scenario[] = [
  {
    name: 'read',
    says: 'read a record by id',
    prepare: (state, subject) => () => {
      const id = state.pick(state.target.ids);
      return { text: get(state, subject, `${root(subject)}/${id}`), status: 200 };
    },
  },
  {
    name: 'create',
    says: 'create a record of ten values, with an idempotency key',
    prepare: (state, subject) => () => {
      const body = { typeDefinitionId: 'ticket', values: state.newValues() };
      const key = `Idempotency-Key: ${randomUUID()}\r\n`;
      return { text: send(state, subject, 'POST', root(subject), body, key), status: 201 };
    },
  },
  {
    name: 'update',
    says: 'change one field, with the revision that the client knows',
    prepare: (state, subject, connection, connections) => {
      const { revisions, target } = state;
      // Each connection has its own records, so that the revision it knows is current.
      const own = state.share(connection, connections);
      return () => {
        const index = connection + state.among(own) * connections;
        const body = { expectedRevision: revisions[index], changes: { effort: state.effort() } };
        return {
          text: send(state, subject, 'PATCH', `${root(subject)}/${target.ids[index]}`, body),
          status: 200,
          done: () => {
            revisions[index] = (revisions[index] ?? 0) + 1;
          },
        };
      };
    },
  },
  {
    name: 'replay',
    says: 'repeat a create with the same idempotency key (baseline: a read)',
    prepare: (state, subject) => {
      const body = { typeDefinitionId: 'ticket', values: state.newValues() };
      const key = `Idempotency-Key: ${randomUUID()}\r\n`;
      const id = state.pick(state.target.ids);
      return subject === 'docket'
        ? () => ({ text: send(state, subject, 'POST', root(subject), body, key), status: 201 })
        : () => ({ text: get(state, subject, `${root(subject)}/${id}`), status: 200 });
    },
  },
  {
    name: 'hot-record',
    says: 'change one record from 64 connections; of several with one revision one succeeds, and only successes count',
    connections: 64,
    tolerated: [409, 503],
    prepare: (state, subject) => () => ({
      text: send(state, subject, 'PATCH', `${root(subject)}/${state.target.ids[0]}`, {
        expectedRevision: state.revisions[0],
        changes: { effort: state.effort() },
      }),
      status: 200,
      done: () => {
        state.revisions[0] = (state.revisions[0] ?? 0) + 1;
      },
    }),
  },
  {
    name: 'many-roles',
    says: `list page 1 of ${PAGE_SIZE} of the type for a user with ${MANY_ROLES} roles with row conditions`,
    prepare: (state, subject) => {
      const query = subject === 'docket' ? 'typeId=ticket' : `limit=${PAGE_SIZE + 1}&offset=0`;
      const text = get(state, subject, `${root(subject)}?${query}`, state.target.keyOfRoles);
      return () => ({ text, status: 200 });
    },
  },
  {
    name: 'catalog-request',
    says: 'make a request from the catalogue for one of the people, with an idempotency key (baseline: a create)',
    prepare: (state, subject) => () => {
      const { people, catalogItemId } = state.target.facts;
      const { title, description, area, effort, due, asset } = state.newValues();
      const values = { title, description, area, effort, due, asset };
      const key = `Idempotency-Key: ${randomUUID()}\r\n`;
      const path = subject === 'docket' ? `/api/v1/catalog/items/${catalogItemId}/requests` : root(subject);
      const body =
        subject === 'docket' ? { requesterId: state.pick(people), values } : { typeDefinitionId: 'ticket', values };
      return { text: send(state, subject, 'POST', path, body, key), status: 201 };
    },
  },
  {
    name: 'list',
    says: `list page 1 of ${PAGE_SIZE} of the type`,
    prepare: list({ docket: 'typeId=ticket', baseline: `limit=${PAGE_SIZE + 1}&offset=0` }),
  },
  {
    name: 'list-any',
    says: `list page 1 of ${PAGE_SIZE} of all types`,
    prepare: list({ docket: 'page=1', baseline: `limit=${PAGE_SIZE + 1}&offset=0` }),
  },
  {
    name: 'list-deep',
    says: `list page ${DEEP_PAGE.toLocaleString('en')} of ${DEEP_PAGE_SIZE} of the type`,
    prepare: list({
      docket: `typeId=ticket&page=${DEEP_PAGE}&pageSize=${DEEP_PAGE_SIZE}`,
      baseline: `limit=${DEEP_PAGE_SIZE + 1}&offset=${(DEEP_PAGE - 1) * DEEP_PAGE_SIZE}`,
    }),
  },
  ...ACTIVITY_SCENARIOS,
  ...MEMBERSHIP_SCENARIOS,
];

/** Scenarios that are also measured with many connections. The service may reject a part with 503; successes count. */
export const CROWDED = ['read', 'create', 'update', 'comment', 'transition', 'list'];
export const CROWDS = [64, 256];

/** `read@256` for 256 connections. */
export const crowdedName = (name: string, connections: number): string => `${name}@${connections}`;

export const SCENARIOS: readonly Scenario[] = [
  ...BASIC,
  ...BASIC.filter(({ name }) => CROWDED.includes(name)).flatMap((scenario) =>
    CROWDS.map((connections) => ({
      ...scenario,
      name: crowdedName(scenario.name, connections),
      says: `${scenario.says}, ${connections} connections`,
      connections,
      tolerated: [503],
    })),
  ),
];

export function scenarioOf(name: string): Scenario {
  const found = [...SCENARIOS, ...RIVAL_SCENARIOS].find((scenario) => scenario.name === name);
  if (found === undefined) {
    throw new Error(`there is no scenario "${name}"; there are ${SCENARIOS.map((one) => one.name).join(', ')}`);
  }
  return found;
}
