/** What the commands share: settings are read when a command runs, so that `--help` needs none. */
import type { Settings } from '../config.ts';

export interface Environment {
  settings(): Settings;
  /** All of it, for processes that are started. */
  inherited: Readonly<Record<string, string | undefined>>;
}
