/**
 * Whether all rows of the index match the current configuration. After a change of roles, some rows are outdated until the
 * background job rebuilds them. Until then, questions use the field tokens of all fields, and rows whose words without a token
 * may belong to a field that is hidden now are used only for callers who may read every field (docs/explanation/search.md).
 */
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { profileView } from './index-profile.ts';
import { storedProfiles } from './store-rebuild.ts';

export class IndexUpToDate {
  /**
   * The configuration version for which all rows are known to be current. Rows do not become outdated again within a version.
   */
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
