/** The measured work as requests of each rival. The subject is `docket`: the address and key of the target are the rival's. */
import { get, type Prepared, type Scenario, send, type TargetState } from '../scenario.ts';

/** Operations that all systems have. */
export const COMPARED = ['read', 'create', 'update', 'comment', 'list'] as const;
type Compared = (typeof COMPARED)[number];

const PAGE_SIZE = 25;

type Requests = Record<Compared, (state: TargetState) => Prepared>;

const comment = (state: TargetState): string => `Looked at it again, ${state.among(1_000_000)} times now.`;

const DIRECTUS: Requests = {
  read: (state) => ({ text: get(state, 'docket', `/items/ticket/${state.pick(state.target.ids)}`), status: 200 }),
  create: (state) => ({ text: send(state, 'docket', 'POST', '/items/ticket', state.newValues()), status: 200 }),
  update: (state) => ({
    text: send(state, 'docket', 'PATCH', `/items/ticket/${state.pick(state.target.ids)}`, { effort: state.effort() }),
    status: 200,
  }),
  comment: (state) => ({
    text: send(state, 'docket', 'POST', '/comments', {
      collection: 'ticket',
      item: state.pick(state.target.ids),
      comment: comment(state),
    }),
    status: 200,
  }),
  list: (state) => ({ text: get(state, 'docket', `/items/ticket?limit=${PAGE_SIZE}&sort=-created`), status: 200 }),
};

const STRAPI: Requests = {
  read: (state) => ({ text: get(state, 'docket', `/api/tickets/${state.pick(state.target.ids)}`), status: 200 }),
  create: (state) => ({
    text: send(state, 'docket', 'POST', '/api/tickets', { data: state.newValues() }),
    status: 201,
  }),
  update: (state) => ({
    text: send(state, 'docket', 'PUT', `/api/tickets/${state.pick(state.target.ids)}`, {
      data: { effort: state.effort() },
    }),
    status: 200,
  }),
  comment: (state) => ({
    text: send(state, 'docket', 'POST', '/api/notes', {
      data: { body: comment(state), visibility: 'public', ticket: state.pick(state.target.ids) },
    }),
    status: 201,
  }),
  list: (state) => ({
    text: get(
      state,
      'docket',
      `/api/tickets?pagination[pageSize]=${PAGE_SIZE}&pagination[withCount]=false&sort=createdAt:desc`,
    ),
    status: 200,
  }),
};

const of = (rival: string, requests: Requests): Scenario[] =>
  COMPARED.map((name) => ({
    name: `${rival}:${name}`,
    says: `${rival}: ${name}`,
    prepare: (state) => () => requests[name](state),
  }));

export const RIVAL_SCENARIOS: readonly Scenario[] = [...of('directus', DIRECTUS), ...of('strapi', STRAPI)];
