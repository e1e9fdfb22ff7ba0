/** The reference model of comments, relations and SLA commands. */
import { isDeepStrictEqual } from 'node:util';
import type { TestAnswer } from '../support/app.ts';
import type { Call } from './calls.ts';
import { done, type Outcome, refuse, replayed, succeed } from './outcome.ts';
import { commandPolicies, slaAnswer } from './sla.ts';
import { type CommentState, having, type RecordState, type RelationState, type State } from './state.ts';
import { canSee } from './values.ts';
import { type Caller, DEFINITIONS } from './world.ts';

const ABSENT = refuse(404, 'NOT_FOUND');
const NO_RIGHT = refuse(403, 'RIGHT_MISSING');

/** The record, if the caller can see it. */
export function visible(state: State, who: Caller, id: string): RecordState | undefined {
  const record = state.records.get(id);
  return record !== undefined && canSee(who, record) ? record : undefined;
}

export function canSeeComment(who: Caller, { visibility }: Pick<CommentState, 'visibility'>): boolean {
  return visibility === 'public' || who === 'chief';
}

/** The outcome of a change around a record; undefined for other operations. */
export function judgeAround(state: State, call: Call, answer: TestAnswer): Outcome | undefined {
  const { op, who } = call;
  switch (op.kind) {
    case 'comment':
      return addComment(state, call, op, answer);
    case 'edit-comment':
    case 'archive-comment':
      return changeComment(state, who, op);
    case 'relate':
      return relate(state, call, op, answer);
    case 'unrelate':
      return unrelate(state, who, op);
    case 'sla-command': {
      const record = visible(state, who, op.objectId);
      if (record === undefined) return ABSENT;
      if (who === 'viewer') return NO_RIGHT;
      if (record.archived) return refuse(409, 'ARCHIVED');
      const next = commandPolicies(record, op.command, state.now);
      if (next === undefined) return refuse(409, 'SLA_COMMAND_NOT_ALLOWED');
      const wanted = slaAnswer(next.sla.at(-1) as (typeof next.sla)[number], state.now);
      return succeed(200, having(state, 'records', record.id, next), (data) => {
        const { status, startedAt, elapsedMs, breached } = data;
        const same = isDeepStrictEqual({ status, startedAt, elapsedMs, breached }, wanted);
        return same ? undefined : `expected ${JSON.stringify(wanted)}`;
      });
    }
    default:
      return undefined;
  }
}

type Of<Kind extends Call['op']['kind']> = Extract<Call['op'], { kind: Kind }>;

/** Adds an event to the history of a record; its revision stays. */
export function withMention(state: State, objectId: string, type: string, about: string): State {
  const record = state.records.get(objectId) as RecordState;
  const event = { type, revision: record.revision, fields: [], about };
  return having(state, 'records', objectId, { ...record, history: [...record.history, event] });
}

function sameComment(comment: CommentState, data: any): string | undefined {
  const { id, revision, body, visibility, objectId } = comment;
  for (const [name, value] of Object.entries({ id, revision, body, visibility, objectId }))
    if (data[name] !== value) return `expected ${name} ${JSON.stringify(value)}`;
  return undefined;
}

function addComment(state: State, call: Call, op: Of<'comment'>, answer: TestAnswer): Outcome {
  const { who } = call;
  const record = visible(state, who, op.objectId);
  if (record === undefined) return ABSENT;
  // Nobody but the chief may comment on parts and words; the others do not see words.
  if (who !== 'chief' && record.type !== 'ticket') return NO_RIGHT;
  const visibility = op.visibility ?? 'internal';
  if (!canSeeComment(who, { visibility })) return NO_RIGHT;
  const replay = replayed(state, call, answer);
  if (replay !== undefined) return replay;
  if (record.archived) return refuse(409, 'ARCHIVED');
  const id = String(answer.body?.data?.id);
  const comment: CommentState = {
    id,
    objectId: record.id,
    body: op.body,
    visibility,
    revision: 1,
    archived: false,
    author: who,
  };
  const next = withMention(having(state, 'comments', id, comment), record.id, 'CommentAdded', id);
  return done(201, next, call, (data) => sameComment(comment, data));
}

function changeComment(state: State, who: Caller, op: Of<'edit-comment'> | Of<'archive-comment'>): Outcome {
  const comment = state.comments.get(op.commentId);
  const record = comment === undefined ? undefined : visible(state, who, comment.objectId);
  if (comment === undefined || record === undefined || !canSeeComment(who, comment)) return ABSENT;
  if (who === 'viewer' || (who === 'agent' && record.type !== 'ticket')) return NO_RIGHT;
  const edited = op.kind === 'edit-comment';
  if (edited && op.visibility !== undefined && !canSeeComment(who, { visibility: op.visibility })) return NO_RIGHT;
  if (record.archived || comment.archived) return refuse(409, 'ARCHIVED');
  if (comment.revision !== op.expectedRevision) return refuse(409, 'REVISION_CONFLICT');
  const { body, visibility } = comment;
  const next: CommentState = edited
    ? { ...comment, body: op.body ?? body, visibility: op.visibility ?? visibility }
    : { ...comment, archived: true };
  if (isDeepStrictEqual(next, comment)) return succeed(200, state, (data) => sameComment(comment, data));
  const stored = having(state, 'comments', comment.id, { ...next, revision: comment.revision + 1 });
  const type = edited ? 'CommentUpdated' : 'CommentArchived';
  return succeed(200, withMention(stored, record.id, type, comment.id), (data) =>
    edited ? sameComment({ ...next, revision: comment.revision + 1 }, data) : archived(data, comment.id),
  );
}

function archived(data: any, id: string): string | undefined {
  return data.id === id && data.state === 'ARCHIVED' ? undefined : 'expected an archived item';
}

const active = (state: State): RelationState[] => [...state.relations.values()].filter((one) => !one.archived);

/** Whether relations of the definition lead from one record to another. */
function reaches(state: State, definition: string, from: string, to: string, seen = new Set<string>()): boolean {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return active(state).some(
    (one) => one.definition === definition && one.source === from && reaches(state, definition, one.target, to, seen),
  );
}

function relate(state: State, call: Call, op: Of<'relate'>, answer: TestAnswer): Outcome {
  const { who } = call;
  const source = visible(state, who, op.objectId);
  if (source === undefined) return ABSENT;
  if (who === 'viewer' || (who === 'agent' && source.type !== 'ticket')) return NO_RIGHT;
  const replay = replayed(state, call, answer);
  if (replay !== undefined) return replay;
  if (source.archived) return refuse(409, 'ARCHIVED');
  const definition = DEFINITIONS.find(({ code }) => code === op.definition);
  if (definition === undefined || source.type !== 'ticket') return refuse(400, 'INVALID_REQUEST', ['/definitionId']);
  const target = visible(state, who, op.target);
  if (op.target === source.id || target === undefined || !definition.targets.includes(target.type))
    return refuse(400, 'INVALID_REQUEST', ['/targetObjectId']);
  if (target.archived) return refuse(409, 'ARCHIVED');
  const standing = active(state).filter((one) => one.definition === definition.code);
  const same = standing.find((one) => one.source === source.id && one.target === target.id);
  if (same !== undefined) {
    const wanted = { relation: { id: same.id, revision: same.revision }, idempotent: true };
    return done(201, state, call, (data) => (isDeepStrictEqual(data, wanted) ? undefined : 'expected the relation'));
  }
  const { one } = definition;
  if (
    standing.some((other) => (one.source && other.source === source.id) || (one.target && other.target === target.id))
  )
    return refuse(409, 'RELATION_CARDINALITY');
  if (definition.acyclic && reaches(state, definition.code, target.id, source.id)) return refuse(409, 'RELATION_CYCLE');
  const id = String(answer.body?.data?.relation?.id);
  const relation = {
    id,
    definition: definition.code,
    source: source.id,
    target: target.id,
    revision: 1,
    archived: false,
  };
  const next = withMention(having(state, 'relations', id, relation), source.id, 'RelationAdded', id);
  const wanted = { relation: { id, revision: 1 }, idempotent: false };
  return done(201, next, call, (data) => (isDeepStrictEqual(data, wanted) ? undefined : 'expected a new relation'));
}

function unrelate(state: State, who: Caller, op: Of<'unrelate'>): Outcome {
  const relation = state.relations.get(op.relationId);
  const source = relation === undefined ? undefined : visible(state, who, relation.source);
  if (relation === undefined || source === undefined) return ABSENT;
  if (visible(state, who, relation.target) === undefined) return ABSENT;
  if (who === 'viewer') return NO_RIGHT;
  if (source.archived || relation.archived) return refuse(409, 'ARCHIVED');
  if (relation.revision !== op.expectedRevision) return refuse(409, 'REVISION_CONFLICT');
  const { id, revision } = relation;
  const stored = having(state, 'relations', id, { ...relation, archived: true, revision: revision + 1 });
  return succeed(200, withMention(stored, source.id, 'RelationArchived', id), (data) => archived(data, id));
}
