/** Confirmation of actions that cannot easily be undone. The dialog is loaded with the first question. */
import { type ComponentType, useSyncExternalStore } from 'react';
import type { ConfirmDialogProps, Question } from './confirm-dialog.tsx';

interface PendingConfirmation extends ConfirmDialogProps {
  Dialog: ComponentType<ConfirmDialogProps>;
}

const state: { asked: PendingConfirmation | undefined; waiting: PendingConfirmation[]; listeners: Set<() => void> } = {
  asked: undefined,
  waiting: [],
  listeners: new Set(),
};

function next(): void {
  state.asked = state.waiting.shift();
  for (const listener of state.listeners) listener();
}

/** Asks the user. A further question waits until the one before it is answered. @returns true if the user confirmed */
export async function confirm(question: Question): Promise<boolean> {
  const { ConfirmDialog } = await import('./confirm-dialog.tsx');
  return await new Promise((resolve) => {
    const onAnswer = (given: boolean): void => {
      resolve(given);
      next();
    };
    state.waiting.push({ question, onAnswer, Dialog: ConfirmDialog });
    if (state.asked === undefined) next();
  });
}

function subscribe(listener: () => void): () => void {
  state.listeners.add(listener);
  return () => state.listeners.delete(listener);
}

/** The place in the page where the dialog appears. */
export function ConfirmHost() {
  const asked = useSyncExternalStore(subscribe, () => state.asked);
  return asked === undefined ? null : <asked.Dialog question={asked.question} onAnswer={asked.onAnswer} />;
}
