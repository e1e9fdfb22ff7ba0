/**
 * Types of columns that the schema cannot express, for example of JSON: `table.column` → type. `npm run schema` writes them into
 * `platform/database/tables.ts`. Columns whose CHECK lists their values need no line.
 */
import type { CommentVisibility } from '../contract/comment-visibility.ts';
import type { Visibility } from './knowledge/registry.ts';

declare module '../platform/database/table.ts' {
  interface ColumnTypes {
    'comments.visibility': CommentVisibility;
    'kb_versions.visibility': Visibility;
  }
}
