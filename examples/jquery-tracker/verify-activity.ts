/** Compares comments, attachments, links in both directions and workflow states of the records. */
import { createHash } from 'node:crypto';
import { contentOf, type LifePlan } from './timeline.ts';
import { DUPLICATE_OF } from './configure.ts';
import { type Context, type Differ, type Person, read } from './reading.ts';

/** What was read back. */
export interface ActivityCounts {
  comments: number;
  files: number;
  fileBytes: number;
  outgoing: number;
  incoming: number;
  /** Records by the code of their workflow state. */
  states: Record<string, number>;
}

export function noneYet(): ActivityCounts {
  return { comments: 0, files: 0, fileBytes: 0, outgoing: 0, incoming: 0, states: {} };
}

interface StoredComment {
  body: string;
  visibility: string;
  state: string;
  revision: number;
  author: Person | null;
}

interface StoredFile {
  originalFilename: string;
  mediaType: string;
  size: number;
  sha256: string;
  revision: number;
  createdBy: Person | null;
}

interface StoredRelation {
  definitionCode: string;
  direction: string;
  sourceObjectId: string;
  targetObjectId: string;
}

/** Compares comments, files and links of one record. */
export async function compareActivity(
  context: Context,
  plan: LifePlan,
  id: string,
  counts: ActivityCounts,
  differ: Differ,
): Promise<void> {
  const said = await read<StoredComment[]>(context, 'comments', `/api/v1/objects/${id}/comments`);
  const files = await read<StoredFile[]>(context, 'attachments', `/api/v1/objects/${id}/attachments`);
  counts.comments += said.length;
  counts.files += files.length;
  for (const file of files) counts.fileBytes += file.size;
  const person = (handle: string): Person => ({ id: context.userIds.get(handle) ?? '', displayName: handle });
  const expectedComments = plan.steps
    .filter((step) => step.kind === 'comment')
    .map(({ author, body }) => ({ body, visibility: 'public', state: 'ACTIVE', revision: 1, author: person(author) }));
  differ('number of comments', expectedComments.length, said.length);
  said.forEach(({ body, visibility, state, revision, author }, index) => {
    differ(`comment ${index + 1}`, expectedComments[index], { body, visibility, state, revision, author });
  });
  const expectedFiles = plan.steps
    .filter((step) => step.kind === 'file')
    .map((file) => ({
      originalFilename: file.filename,
      mediaType: file.mediaType,
      size: file.size,
      sha256: createHash('sha256').update(contentOf(plan.ticket, file)).digest('hex'),
      revision: 1,
      createdBy: person(file.author),
    }));
  differ('number of files', expectedFiles.length, files.length);
  files.forEach(({ originalFilename, mediaType, size, sha256, revision, createdBy }, index) => {
    const found = { originalFilename, mediaType, size, sha256, revision, createdBy };
    differ(`file ${index + 1}`, expectedFiles[index], found);
  });
  await compareLinks(context, plan, id, counts, differ);
}

async function compareLinks(
  context: Context,
  plan: LifePlan,
  id: string,
  counts: ActivityCounts,
  differ: Differ,
): Promise<void> {
  const path = `/api/v1/objects/${id}/relations`;
  const outgoing = await read<StoredRelation[]>(context, 'relations', `${path}?direction=outgoing`);
  const incoming = await read<StoredRelation[]>(context, 'relations', `${path}?direction=incoming`);
  counts.outgoing += outgoing.length;
  counts.incoming += incoming.length;
  const idOf = (ticket: string): string => context.journal.created.get(ticket) ?? ticket;
  const link = (direction: string, source: string, target: string): StoredRelation => ({
    definitionCode: DUPLICATE_OF,
    direction,
    sourceObjectId: source,
    targetObjectId: target,
  });
  const target = context.duplicates.get(plan.ticket)?.target;
  differ('outgoing relations', target === undefined ? [] : [link('outgoing', id, idOf(target))], outgoing.map(ends));
  const sources = (context.duplicatesOf.get(plan.ticket) ?? []).map(idOf).sort();
  const found = incoming.map(ends).sort((a, b) => (a.sourceObjectId < b.sourceObjectId ? -1 : 1));
  differ(
    'incoming relations',
    sources.map((source) => link('incoming', source, id)),
    found,
  );
}

function ends({ definitionCode, direction, sourceObjectId, targetObjectId }: StoredRelation): StoredRelation {
  return { definitionCode, direction, sourceObjectId, targetObjectId };
}

/** Compares the workflow response; a user who may only read sees no transition. */
export async function compareWorkflow(
  context: Context,
  plan: LifePlan,
  id: string,
  counts: ActivityCounts,
  differ: Differ,
): Promise<void> {
  const found = await read<{
    object: { revision: number };
    state: { code: string } | null;
    transitions: unknown[];
    permission: { transition: boolean };
  }>(context, 'read workflow', `/api/v1/objects/${id}/workflow`);
  const code = found.state?.code ?? '';
  counts.states[code] = (counts.states[code] ?? 0) + 1;
  differ('state of the workflow', plan.states.final, code);
  differ('revision in the workflow', plan.changes.at(-1)?.revision ?? 1, found.object.revision);
  differ('transitions of a reader', [], found.transitions);
  differ('permission of a reader', { transition: false }, found.permission);
}
