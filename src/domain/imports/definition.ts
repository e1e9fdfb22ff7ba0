/** The stored shape of an import definition (docs/spec/configuration.md#bundle). */
import type { MappingItem } from '../../lib/mapping.ts';
import type { Localized } from '../../configuration/schemas.ts';

export type TargetKind = 'object' | 'user' | 'group' | 'organization';

export interface ImportDefinition {
  code: string;
  name: Localized;
  targetKind: TargetKind;
  /** Code of the record type, for `object`. */
  targetType?: string;
  format: 'CSV' | 'JSON';
  mode: 'CREATE_ONLY' | 'UPDATE_ONLY' | 'UPSERT';
  sourceCode: string;
  resolver: { externalIdField: string };
  mapping: MappingItem[];
}
