/**
 * Whether every row of the projection is made as the configuration in force says. Where roles have just changed, some are not:
 * until the background has made them anew, questions look under the labels of all fields, and rows whose unlabelled words
 * may be of a field that is hidden now are shown to those alone who read every field (docs/architecture.md).
 */
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { profileView } from './index-profile.ts';
import { storedProfiles } from './store-rebuild.ts';

export class IndexUpToDate {
  /** Epoch of the configuration for which it is known; rows do not fall back. */
  #configVersion = -1;

  async is(ctx: ReadContext): Promise<boolean> {
    const { version: configVersion } = ctx.config;
    if (this.#configVersion === configVersion) return true;
    const known = new Set(ctx.config.get(profileView).ids);
    const upToDate = (await storedProfiles(ctx)).every((profile) => known.has(profile));
    if (upToDate) this.#configVersion = configVersion;
    return upToDate;
  }
}
