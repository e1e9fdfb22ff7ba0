/**
 * Asks to sign in when the session has ended, without leaving the page. Refused calls wait for the answer. The dialog is loaded
 * when it is needed.
 */
import { type ComponentType, useSyncExternalStore } from 'react';
import type { SignInDialogProps } from './sign-in-dialog.tsx';

interface PendingSignIn extends SignInDialogProps {
  Dialog: ComponentType<SignInDialogProps>;
}

/** The calls that wait for a sign-in: one promise for all of them. */
const waiting: { promise: Promise<boolean> | undefined; asked: PendingSignIn | undefined; listeners: Set<() => void> } =
  {
    promise: undefined,
    asked: undefined,
    listeners: new Set(),
  };

function show(asked: PendingSignIn | undefined): void {
  waiting.asked = asked;
  for (const listener of waiting.listeners) listener();
}

/** Opens the dialog. Resolves to true if the user signed in again, here or in another tab. */
export function askToSignIn(userId: string | null): Promise<boolean> {
  waiting.promise ??= ask(userId).finally(() => {
    waiting.promise = undefined;
    show(undefined);
  });
  return waiting.promise;
}

async function ask(userId: string | null): Promise<boolean> {
  const { SignInDialog } = await import('./sign-in-dialog.tsx');
  return await new Promise((onSettled) => show({ Dialog: SignInDialog, userId, onSettled }));
}

function subscribe(listener: () => void): () => void {
  waiting.listeners.add(listener);
  return () => waiting.listeners.delete(listener);
}

/** The place in the page where the dialog appears. */
export function SignInAgain() {
  const asked = useSyncExternalStore(subscribe, () => waiting.asked);
  return asked === undefined ? null : <asked.Dialog userId={asked.userId} onSettled={asked.onSettled} />;
}
