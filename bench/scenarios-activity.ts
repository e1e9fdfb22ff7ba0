/** Scenarios of comments, transitions, relations, attachments and bulk changes. */
import { randomBytes } from 'node:crypto';
import { BULK_ITEMS, FILE_BYTES, get, root, type Scenario, send, TALKATIVE_COMMENTS } from './scenario.ts';

export const ACTIVITY_SCENARIOS: readonly Scenario[] = [
  {
    name: 'comment',
    says: 'add a public comment',
    prepare: (state, subject) => () => {
      const body = { body: `Looked at it again, ${state.among(1_000_000)} times now.`, visibility: 'public' };
      return {
        text: send(state, subject, 'POST', `${root(subject)}/${state.pick(state.target.ids)}/comments`, body),
        status: 201,
      };
    },
  },
  {
    name: 'comments',
    says: `list the ${TALKATIVE_COMMENTS} comments of a record`,
    prepare: (state, subject) => () => {
      const id = state.pick(state.target.facts.talkative);
      return { text: get(state, subject, `${root(subject)}/${id}/comments`), status: 200 };
    },
  },
  {
    name: 'transition',
    says: 'make a transition, with revision and state that the client knows',
    prepare: (state, subject, connection, connections) => {
      const { revisions, taken, target } = state;
      const own = state.share(connection, connections);
      const { take, giveBack } = target.facts.transitions;
      return () => {
        const index = connection + state.among(own) * connections;
        const { id, from } = taken[index] === 1 ? giveBack : take;
        const body = { transitionId: id, expectedRevision: revisions[index], expectedStateId: from, values: {} };
        return {
          text: send(state, subject, 'POST', `${root(subject)}/${target.ids[index]}/transitions`, body),
          status: 200,
          done: () => {
            revisions[index] = (revisions[index] ?? 0) + 1;
            taken[index] = 1 - (taken[index] ?? 0);
          },
        };
      };
    },
  },
  {
    name: 'relation',
    says: 'relate two records',
    prepare: (state, subject, connection, connections) => {
      const { ids, facts } = state.target;
      const own = state.share(connection, connections);
      return () => {
        const source = connection + state.among(own) * connections;
        // Another record than the source, and of some hundred thousand pairs hardly ever one that was related before.
        const target = (source + 1 + state.among(ids.length - 1)) % ids.length;
        const body = { definitionId: facts.relationId, targetObjectId: ids[target] };
        return { text: send(state, subject, 'POST', `${root(subject)}/${ids[source]}/relations`, body), status: 201 };
      };
    },
  },
  {
    name: 'upload',
    says: `add a file of ${FILE_BYTES / 1000} KB`,
    prepare: (state, subject) => {
      const content = randomBytes(FILE_BYTES);
      return () => {
        // Other content each time: equal content is stored once.
        content.writeDoubleLE(state.next(), 0);
        const body = {
          filename: 'report.pdf',
          mediaType: 'application/pdf',
          contentBase64: content.toString('base64'),
        };
        const path = `${root(subject)}/${state.pick(state.target.ids)}/attachments`;
        return { text: send(state, subject, 'POST', path, body), status: 201 };
      };
    },
  },
  {
    name: 'download',
    says: `read the content of a file of ${FILE_BYTES / 1000} KB`,
    prepare: (state, subject) => () => {
      const id = state.pick(state.target.facts.files);
      const path = subject === 'docket' ? `/api/v1/attachments/${id}/content` : `/files/${id}`;
      return { text: get(state, subject, path), status: 200 };
    },
  },
  {
    name: 'bulk',
    says: `change one field of ${BULK_ITEMS.toLocaleString('en')} records in one call, one call at a time`,
    connections: 1,
    prepare: (state, subject) => {
      const { revisions, target } = state;
      const count = Math.min(BULK_ITEMS, target.ids.length);
      let first = 0;
      return () => {
        const chosen = Array.from({ length: count }, (_, index) => (first + index) % target.ids.length);
        first = (first + count) % target.ids.length;
        const items = chosen.map((index) => ({
          objectId: target.ids[index],
          expectedRevision: revisions[index],
          changes: { effort: state.effort() },
        }));
        const path = subject === 'docket' ? '/api/v1/bulk' : '/records-in-bulk';
        return {
          text: send(state, subject, 'POST', path, { operation: 'update', items }),
          status: 200,
          // After a partly failed call the known revisions would be outdated and affect the next call.
          holds: (body) => (body.match(/"SUCCEEDED"/g) ?? []).length === count,
          done: () => {
            for (const index of chosen) revisions[index] = (revisions[index] ?? 0) + 1;
          },
        };
      };
    },
  },
];
