/** Uploads attachments that are dropped on the record's page, pasted or chosen. */
import { invalidate } from '../../ui/action.ts';
import { notify } from '../../ui/notify.tsx';
import { useQueryClient } from '@tanstack/react-query';
import { type ClipboardEvent, type DragEvent, type ReactNode, useRef, useState } from 'react';
import { call } from '../../api/client.ts';
import type { attachments } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { useFaultNotice } from '../../ui/fault.tsx';
import { recordKey } from '../queries.ts';
import { texts } from '../texts.ts';
import classes from './record.module.css';

/** Larger files do not fit into a request, regardless of the service's own limit. */
const MOST_BYTES = 7.5 * 1024 * 1024;

export interface Upload {
  /** Names of the files being uploaded. */
  pending: readonly string[];
  add: (files: Iterable<File>) => void;
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

export function useUpload(recordId: string): Upload {
  const t = useText(texts);
  const say = useFaultNotice();
  const client = useQueryClient();
  const [pending, setPending] = useState<readonly string[]>([]);
  const one = async (file: File): Promise<void> => {
    if (file.size > MOST_BYTES) {
      notify({ message: t.fileTooLarge(file.name), color: 'red' });
      return;
    }
    setPending((before) => [...before, file.name]);
    try {
      await call<typeof attachments.addAttachment>('POST', `/objects/${recordId}/attachments`, {
        body: {
          filename: file.name,
          contentBase64: await base64Of(file),
          ...(file.type === '' ? {} : { mediaType: file.type }),
        },
        idempotencyKey: crypto.randomUUID(),
      });
      // A file can be dropped anywhere on the page, and the list of attachments is on another tab.
      notify({ message: t.attached(file.name), color: 'petrol', autoClose: 4000 });
    } catch (error) {
      notify({ title: file.name, message: say(error), color: 'red', autoClose: 8000 });
    }
    setPending((before) => before.toSpliced(before.indexOf(file.name), 1));
    await invalidate(client, recordKey(recordId));
  };
  return {
    pending,
    // Sequentially, because each file may need several megabytes of memory.
    add: (files) => {
      void (async () => {
        for (const file of files) await one(file);
      })();
    },
  };
}

interface DropZoneProps {
  enabled: boolean;
  onFiles: (files: Iterable<File>) => void;
  className: string | undefined;
  children: ReactNode;
}

export function DropZone({ enabled, onFiles, className, children }: DropZoneProps) {
  const t = useText(texts);
  const depth = useRef(0);
  const [over, setOver] = useState(false);
  const hasFiles = (event: DragEvent): boolean => enabled && [...event.dataTransfer.types].includes('Files');
  const count = (event: DragEvent, step: number): void => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth.current = Math.max(0, depth.current + step);
    setOver(depth.current > 0);
  };
  const drop = (event: DragEvent): void => {
    depth.current = 0;
    setOver(false);
    // Drops into an editor are handled by the editor.
    if (!hasFiles(event) || event.isDefaultPrevented()) return;
    event.preventDefault();
    onFiles(event.dataTransfer.files);
  };
  const paste = (event: ClipboardEvent): void => {
    const { files } = event.clipboardData;
    if (!enabled || files.length === 0 || event.isDefaultPrevented()) return;
    event.preventDefault();
    onFiles(files);
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
      {over && <div className={classes.drop}>{t.drop}</div>}
    </div>
  );
}
