/** The first text of an article about a record: its description and solution, as far as the author may read them. */
import { useQuery } from '@tanstack/react-query';
import { seenVisibilities } from '../../../../src/contract/comment-visibility.ts';
import type { FieldSchema, RecordComment } from '../../api/types.ts';
import { deskTypesQuery, newestCommentsQuery, recordQuery, recordSchemaQuery } from '../../desk/queries.ts';
import { recordLayout } from '../../desk/record/schema.ts';
import type { RichNode } from '../../fields/rich-text.tsx';

export interface Started {
  title: string;
  bodyDocument: RichNode | null;
}

interface StartedQuery {
  data: Started | undefined;
  error: Error | null;
}

/** Texts that say nothing about the problem. */
const LEFT_OUT: ReadonlySet<string> = new Set(['ratingComment']);
const SOLUTION = 'solution';
/** The visibilities of comments that need no right. Internal notes must not get into an article by themselves. */
const PUBLIC = seenVisibilities(() => false);

export function useRecordText(recordId: string | undefined): StartedQuery {
  const enabled = recordId !== undefined;
  const id = recordId ?? '';
  const record = useQuery({ ...recordQuery(id), enabled });
  const schema = useQuery({ ...recordSchemaQuery(id), enabled });
  const comments = useQuery({ ...newestCommentsQuery(id), enabled });
  const types = useQuery({ ...deskTypesQuery, enabled });
  if (!enabled) return { data: { title: '', bodyDocument: null }, error: null };
  const error = record.error ?? schema.error ?? comments.error ?? types.error;
  if (!record.data || !schema.data || !comments.data || !types.data) return { data: undefined, error };
  const type = types.data.find((one) => one.id === record.data.typeDefinitionId);
  const { long } = recordLayout(schema.data.fields as FieldSchema[], type);
  const parts = long
    .filter(({ code }) => !LEFT_OUT.has(code))
    .flatMap((field) => part(field.name, nodesOf(field, record.data.values[field.code])));
  const solved = (record.data.values[SOLUTION] ?? '') !== '';
  const reply = solved ? undefined : lastReply(comments.data, record.data.values['requester']);
  const content = [...parts, ...(reply === undefined ? [] : paragraphs(reply.body))];
  return {
    data: {
      title: record.data.title ?? '',
      bodyDocument: content.length === 0 ? null : { type: 'doc', content },
    },
    error,
  };
}

/** The last public comment of somebody other than the requester. */
/** Of comments, newest first. */
function lastReply(comments: readonly RecordComment[], requester: unknown): RecordComment | undefined {
  return comments.find(({ visibility, author }) => PUBLIC.includes(visibility) && author?.id !== requester);
}

function part(name: string, nodes: readonly RichNode[]): RichNode[] {
  if (nodes.length === 0) return [];
  return [{ type: 'heading', attrs: { level: 2 }, content: [{ type: 'text', text: name }] }, ...nodes];
}

function nodesOf(field: FieldSchema, value: unknown): RichNode[] {
  if (field.multiple || value === null || value === undefined) return [];
  // Images of a record cannot be read through an article.
  if (field.dataType === 'rich-text') return ((value as RichNode).content ?? []).filter((node) => !hasImage(node));
  return typeof value === 'string' ? paragraphs(value) : [];
}

function hasImage(node: RichNode): boolean {
  return node.type === 'image' || (node.content ?? []).some(hasImage);
}

/** Paragraphs of plain text: an empty line starts a new one. */
function paragraphs(text: string): RichNode[] {
  return text
    .split(/\n\s*\n/)
    .map((block) => block.trim())
    .filter((block) => block !== '')
    .map((block) => ({
      type: 'paragraph',
      content: block
        .split('\n')
        .flatMap((line, index): RichNode[] => [
          ...(index === 0 ? [] : [{ type: 'hardBreak' }]),
          ...(line === '' ? [] : [{ type: 'text', text: line }]),
        ]),
    }));
}
