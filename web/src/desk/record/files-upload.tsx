/**
 * Uploads of files that are dropped, pasted or chosen. An upload is a mutation in the cache: it goes on when its screen is left,
 * and a failed one stays with its file until the user repeats or removes it.
 */
import { type Mutation, type QueryClient, useMutationState, useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { type ClipboardEvent, type DragEvent, type ReactNode, useRef, useState } from 'react';
import { call } from '../../api/client.ts';
import type { Attachment, attachments } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { invalidate } from '../../ui/action.ts';
import { useFaultNotice } from '../../ui/fault.tsx';
import { notify } from '../../ui/notify.tsx';
import { attachmentsQuery, recordKey } from '../queries.ts';
import { texts } from '../texts.ts';
import { fileTexts } from './file-texts.ts';
import classes from './record.module.css';

/** Larger files do not fit into a request, regardless of the service's own limit. */
const MAX_BYTES = 7.5 * 1024 * 1024;

const KEY = 'upload';

class TooLarge extends Error {}

interface Input {
  file: File;
  /** A repeated upload adds the file once. */
  idempotencyKey: string;
}

/** An upload that has not succeeded. */
export interface Uploading {
  id: number;
  name: string;
  size: number;
  state: 'waiting' | 'uploading' | 'failed';
  error: unknown;
}

export interface Upload {
  files: readonly Uploading[];
  add: (files: Iterable<File>) => void;
  retry: (id: number) => void;
  /** Forgets a failed upload. */
  remove: (id: number) => void;
}

async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = '';
  // In chunks, because the number of arguments of a call is limited.
  for (let start = 0; start < bytes.length; start += 32_768) {
    text += String.fromCharCode(...bytes.subarray(start, start + 32_768));
  }
  return btoa(text);
}

async function send(recordId: string, draft: boolean, { file, idempotencyKey }: Input): Promise<Attachment> {
  if (file.size > MAX_BYTES) throw new TooLarge();
  return await call<typeof attachments.addAttachment>('POST', `/objects/${recordId}/attachments`, {
    query: draft ? { draft } : {},
    body: {
      filename: file.name,
      contentBase64: await base64Of(file),
      ...(file.type === '' ? {} : { mediaType: file.type }),
    },
    idempotencyKey,
  });
}

interface Target {
  recordId: string;
  /** Whether the files wait for a comment; else they belong to the record at once. */
  draft: boolean;
}

/** @throws what the service answers */
async function uploadOne(client: QueryClient, { recordId, draft }: Target, input: Input): Promise<void> {
  const cache = client.getMutationCache();
  const upload = cache.build<void, Error, Input, unknown>(client, {
    mutationKey: [KEY, recordId, draft],
    mutationFn: async (one) => {
      const added = await send(recordId, draft, one);
      // The file takes the place of its upload in the lists at once.
      client.setQueryData(attachmentsQuery(recordId).queryKey, (before) =>
        before === undefined ? before : [...before.filter(({ id }) => id !== added.id), added],
      );
    },
    // Sequentially, because each file may need several megabytes of memory.
    scope: { id: KEY },
    networkMode: 'always',
    gcTime: Number.POSITIVE_INFINITY,
  });
  await upload.execute(input);
  cache.remove(upload as Mutation);
  await invalidate(client, recordKey(recordId));
}

/** Returns a function that starts uploads. It also works after the screen that called it is left. */
export function useStartUpload(): (target: Target, inputs: Iterable<File | Input>) => void {
  const t = useText(texts);
  const tf = useText(fileTexts);
  const say = useUploadFault();
  const client = useQueryClient();
  return (target, inputs) => {
    for (const one of inputs) {
      const input = one instanceof File ? { file: one, idempotencyKey: crypto.randomUUID() } : one;
      const { name } = input.file;
      // Drafts are shown where they are added. Other files can be dropped anywhere on the page.
      void uploadOne(client, target, input).then(
        () => (target.draft ? undefined : notify({ message: t.attached(name), color: 'petrol', autoClose: 4000 })),
        (error: unknown) => {
          if (!target.draft)
            notify({ title: tf.notUploaded(name), message: say(error), color: 'red', autoClose: 8000 });
        },
      );
    }
  };
}

/** The uploads to a record. */
export function useUpload(recordId: string, draft = false): Upload {
  const client = useQueryClient();
  const start = useStartUpload();
  const mutationKey = [KEY, recordId, draft];
  const files = useMutationState({
    filters: { mutationKey, exact: true },
    select: ({ mutationId, state }): Uploading & { input: Input | undefined } => {
      const input = state.variables as Input | undefined;
      return {
        id: mutationId,
        name: input?.file.name ?? '',
        size: input?.file.size ?? 0,
        state: state.status === 'error' ? 'failed' : state.isPaused ? 'waiting' : 'uploading',
        error: state.error,
        input,
      };
    },
  });
  // Other pages of the console do not end an upload, leaving the console does.
  useBlocker({ shouldBlockFn: () => false, enableBeforeUnload: files.length > 0, disabled: files.length === 0 });
  const remove = (id: number): void => {
    const cache = client.getMutationCache();
    const found = cache.findAll({ mutationKey, exact: true }).find(({ mutationId }) => mutationId === id);
    if (found !== undefined) cache.remove(found);
  };
  return {
    files,
    add: (added) => start({ recordId, draft }, added),
    retry: (id) => {
      const input = files.find((one) => one.id === id)?.input;
      if (input === undefined) return;
      remove(id);
      start({ recordId, draft }, [input]);
    },
    remove,
  };
}

/** Why an upload failed, and what to do. */
export function useUploadFault(): (error: unknown) => ReactNode {
  const t = useText(fileTexts);
  const say = useFaultNotice();
  return (error) => (error instanceof TooLarge ? t.tooLarge : say(error));
}

interface DropZoneProps {
  enabled: boolean;
  onFiles: (files: Iterable<File>) => void;
  className: string | undefined;
  /** Shown while files are dragged over it. */
  label?: string;
  children: ReactNode;
}

/** The types of a copied cell or text: its image is only another form of it. */
const isText = (types: readonly string[]): boolean => types.includes('text/plain') && types.includes('text/html');

/** Takes dropped and pasted files. A zone inside another one takes its own. */
export function DropZone({ enabled, onFiles, className, label, children }: DropZoneProps) {
  const t = useText(texts);
  const depth = useRef(0);
  const [over, setOver] = useState(false);
  const hasFiles = (event: DragEvent): boolean => enabled && [...event.dataTransfer.types].includes('Files');
  const count = (event: DragEvent, step: number): void => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    event.stopPropagation();
    depth.current = Math.max(0, depth.current + step);
    setOver(depth.current > 0);
  };
  const drop = (event: DragEvent): void => {
    depth.current = 0;
    setOver(false);
    // Drops into an editor are handled by the editor.
    if (!hasFiles(event) || event.isDefaultPrevented()) return;
    event.preventDefault();
    event.stopPropagation();
    onFiles(event.dataTransfer.files);
  };
  const paste = (event: ClipboardEvent): void => {
    const { files, types } = event.clipboardData;
    if (!enabled || files.length === 0 || event.isDefaultPrevented() || isText(types)) return;
    event.preventDefault();
    onFiles([...files]);
  };
  return (
    <div
      className={className}
      onDragEnter={(event) => count(event, 1)}
      onDragLeave={(event) => count(event, -1)}
      onDragOver={(event) => count(event, 0)}
      onDrop={drop}
      onPaste={paste}
      role="presentation"
    >
      {children}
      {over && <div className={classes.drop}>{label ?? t.drop}</div>}
    </div>
  );
}
