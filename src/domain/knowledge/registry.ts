/** Knowledge bases and their sections: one immutable view per configuration snapshot. */
import { isActive } from '../../contract/state.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { ConfigSource, DerivedView } from '../../platform/unit-of-work/snapshot.ts';
import type { LocalizedText } from '../metadata/index.ts';

export type Visibility = 'internal' | 'portal';

export interface Section {
  id: string;
  code: string;
  name: LocalizedText;
  parentId: string | null;
}

export interface Base {
  id: string;
  code: string;
  name: LocalizedText;
  visibility: Visibility;
  /** In order of preference, used if neither the requested nor the default locale exists. */
  locales: readonly string[];
  sections: readonly Section[];
}

const baseView: DerivedView<readonly Base[]> = {
  name: 'knowledge',
  build: (source: ConfigSource) =>
    source.items
      .filter((item) => item.section === 'knowledgeBases' && isActive(item))
      .map(({ id, code, compiled }) => ({ ...(compiled as Base), id, code })),
};

/** The active bases. Articles of other bases are treated as not existing. */
export function bases(ctx: Pick<ReadContext, 'config'>): readonly Base[] {
  return ctx.config.get(baseView);
}
