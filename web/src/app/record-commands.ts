/** Commands of the open record, for the command palette. A component offers a command while it is mounted. */
import { useEffect, useRef } from 'react';

export interface RecordCommand {
  key: string;
  name: string;
  run: () => void;
}

const offeredNow = new Map<string, RecordCommand>();

/** Offers the command in the palette while the component is mounted; undefined offers nothing. */
export function useRecordCommand(command: RecordCommand | undefined): void {
  const latest = useRef(command);
  latest.current = command;
  const key = command?.key;
  const name = command?.name;
  useEffect(() => {
    if (key === undefined || name === undefined) return undefined;
    // The palette gives the focus back when it closes; the command moves it afterwards.
    offeredNow.set(key, { key, name, run: () => setTimeout(() => latest.current?.run(), 0) });
    return () => void offeredNow.delete(key);
  }, [key, name]);
}

export function recordCommands(): RecordCommand[] {
  return [...offeredNow.values()];
}
