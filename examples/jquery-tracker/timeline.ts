/** The timeline of a ticket: comments and attachments merged with its changes by time. Pure, like the plan. */
import type { AttachmentRow, CommentRow } from './data.ts';
import { instant, storable } from './fields.ts';
import type { Change, Problem, TicketPlan } from './plan.ts';

/** One comment. The original time is not kept: the text stays as its author wrote it. */
export interface CommentStep {
  kind: 'comment';
  /** Handle in the tracker. */
  author: string;
  at: string;
  body: string;
  /** Different for every comment of a ticket. */
  slot: string;
}

/** One file. Its content is generated: the data knows the name and the size. */
export interface FileStep {
  kind: 'file';
  author: string;
  at: string;
  filename: string;
  mediaType: string;
  /** In bytes. */
  size: number;
  slot: string;
}

export type Step = Change | CommentStep | FileStep;

/** A file that is not uploaded. */
export interface LeftOutFile {
  ticket: string;
  filename: string;
  why: 'empty' | 'too large';
  /** In bytes. */
  size: number;
}

/** A ticket with everything that happened to it. */
export interface LifePlan extends TicketPlan {
  /** Oldest first. */
  steps: Step[];
  leftOut: LeftOutFile[];
}

/** The service's limit on a file: `attachmentMaxBytes` unless configured, in bytes. */
export const LARGEST_FILE = 7 * 1024 * 1024;
const LONGEST_COMMENT = 100_000;

const UNITS = new Map([
  ['bytes', 1],
  ['KB', 1024],
  ['MB', 1024 * 1024],
]);

/** Bytes for a size as the tracker shows it, such as "62.8 KB". @throws Error when it is written otherwise */
export function bytesOf(size: string): number {
  const [, number, unit = ''] = /^([0-9]+(?:\.[0-9]+)?) ([A-Za-z]+)$/.exec(size) ?? [];
  const factor = UNITS.get(unit);
  if (number === undefined || factor === undefined) throw new Error(`"${size}" is no size`);
  return Math.round(Number(number) * factor);
}

/** Content of a file: its ticket and name over and over, the same at every run. */
export function contentOf(ticket: string, { filename, size }: Pick<FileStep, 'filename' | 'size'>): Buffer {
  return Buffer.alloc(size, `${ticket} ${filename}\n`);
}

const MEDIA_TYPES = new Map([
  ['css', 'text/css'],
  ['gif', 'image/gif'],
  ['htm', 'text/html'],
  ['html', 'text/html'],
  ['jpg', 'image/jpeg'],
  ['js', 'text/javascript'],
  ['diff', 'text/plain'],
  ['patch', 'text/plain'],
  ['pdf', 'application/pdf'],
  ['png', 'image/png'],
  ['txt', 'text/plain'],
  ['xml', 'application/xml'],
  ['zip', 'application/zip'],
]);

function mediaTypeOf(filename: string): string {
  const extension = filename.slice(filename.lastIndexOf('.') + 1).toLowerCase();
  return MEDIA_TYPES.get(extension) ?? 'application/octet-stream';
}

function time(cell: string): string {
  const { value } = instant(cell);
  if (typeof value !== 'string') throw new Error(`"${cell}" is no instant`);
  return value;
}

/** Adds the comments and files to a ticket's plan. @throws Error when a size or an instant cannot be read */
export function planLife(
  plan: TicketPlan,
  comments: readonly CommentRow[],
  attachments: readonly AttachmentRow[],
): LifePlan {
  const problems: Problem[] = [...plan.problems];
  const leftOut: LeftOutFile[] = [];
  const said = comments.map(({ author, created_at, seq, body: written }): CommentStep => {
    const { value: body, problem } = storable(written, LONGEST_COMMENT, false);
    if (problem !== undefined) problems.push({ ticket: plan.ticket, field: `comment ${seq}`, what: problem });
    return { kind: 'comment', author, at: time(created_at), body, slot: seq };
  });
  const files = attachments.flatMap(({ filename, size: shown, author, added_at }, index): FileStep[] => {
    const size = bytesOf(shown);
    if (size === 0 || size > LARGEST_FILE) {
      leftOut.push({ ticket: plan.ticket, filename, why: size === 0 ? 'empty' : 'too large', size });
      return [];
    }
    const slot = String(index + 1);
    return [{ kind: 'file', author, at: time(added_at), filename, mediaType: mediaTypeOf(filename), size, slot }];
  });
  return { ...plan, problems, leftOut, steps: inOrder([files, plan.changes, said]) };
}

/**
 * Merges several ordered streams by time. At the same instant the earlier stream comes first: a file, the change, the comment.
 */
function inOrder(streams: readonly (readonly Step[])[]): Step[] {
  const timed = streams.flatMap((stream) => {
    let latest = '';
    return stream.map((step) => {
      if (step.at > latest) latest = step.at;
      return { step, at: latest };
    });
  });
  return timed.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).map(({ step }) => step);
}
