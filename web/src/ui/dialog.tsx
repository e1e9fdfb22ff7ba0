/** A dialog that asks before it closes over unsaved changes. */
import { Modal, type ModalProps } from '@mantine/core';
import { useState } from 'react';
import { useText } from '../i18n/text.ts';
import { confirm } from './confirm.tsx';
import { DialogWarnings } from './form.tsx';
import { texts } from './texts.ts';

/**
 * Like `Modal`. Escape, a click outside and the close button ask first while something in the dialog is unsaved: see
 * `useUnsavedWarning` and `useDialogWarning`. Buttons that the dialog contains call its owner directly and are not asked.
 */
export function Dialog({ children, onClose, closeOnEscape, ...props }: ModalProps) {
  const t = useText(texts);
  const [warnings] = useState(() => new Set<() => boolean>());
  const [asking, setAsking] = useState(false);
  const close = async (): Promise<void> => {
    if ([...warnings].some((unsaved) => unsaved())) {
      setAsking(true);
      const agreed = await confirm({ title: t.leaveTitle, body: t.closeBody, yes: t.closeUnsaved, danger: true });
      setAsking(false);
      if (!agreed) return;
    }
    onClose();
  };
  return (
    // Escape reaches all open dialogs; while the question is open, it only answers the question.
    <Modal {...props} onClose={() => void close()} closeOnEscape={closeOnEscape !== false && !asking}>
      <DialogWarnings value={warnings}>{children}</DialogWarnings>
    </Modal>
  );
}
