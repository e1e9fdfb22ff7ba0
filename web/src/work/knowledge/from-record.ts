/** The first text of an article about a record: its description and solution, as far as the author may read them. */
import { useQuery } from '@tanstack/react-query';
import type { FieldSchema } from '../../api/types.ts';
import { deskTypesQuery, lastReplyQuery, recordQuery, recordSchemaQuery } from '../../desk/queries.ts';
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

export function useRecordText(recordId: string | undefined): StartedQuery {
  const enabled = recordId !== undefined;
  const id = recordId ?? '';
  const record = useQuery({ ...recordQuery(id), enabled });
  const schema = useQuery({ ...recordSchemaQuery(id), enabled });
  // Internal notes must not get into an article by themselves.
  const solved = (record.data?.values[SOLUTION] ?? '') !== '';
  const wantsReply = record.data !== undefined && !solved;
  const reply = useQuery({ ...lastReplyQuery(id, record.data?.values['requester']), enabled: wantsReply });
  const types = useQuery({ ...deskTypesQuery, enabled });
  if (!enabled) return { data: { title: '', bodyDocument: null }, error: null };
  const error = record.error ?? schema.error ?? reply.error ?? types.error;
  if (!record.data || !schema.data || (wantsReply && reply.data === undefined) || !types.data)
    return { data: undefined, error };
  const type = types.data.find((one) => one.id === record.data.typeDefinitionId);
  const { long } = recordLayout(schema.data.fields as FieldSchema[], type);
  const parts = long
    .filter(({ code }) => !LEFT_OUT.has(code))
    .flatMap((field) => part(field.name, nodesOf(field, record.data.values[field.code])));
  const content = [...parts, ...(wantsReply && reply.data ? paragraphs(reply.data.body) : [])];
  return {
    data: {
      title: record.data.title ?? '',
      bodyDocument: content.length === 0 ? null : { type: 'doc', content },
    },
    error,
  };
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
