/** Shared by all commands. Settings are read when a command runs, so that `--help` needs none. */
import type { Settings } from '../settings.ts';

export interface Environment {
  settings(): Settings;
  /** The complete environment, for child processes. */
  inherited: Readonly<Record<string, string | undefined>>;
}
