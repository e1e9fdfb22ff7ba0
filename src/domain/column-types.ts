/**
 * Types of columns that the schema cannot express, for example of JSON: `table.column` → type. `npm run schema` writes them into
 * `platform/database/tables.ts`. Columns whose CHECK lists their values need no line.
 */
import type { CommentVisibility } from '../contract/comment-visibility.ts';
import type { Localized } from '../contract/schemas.ts';
import type { FaultDetail } from '../lib/fault.ts';
import type { QueueDefinition } from './desk/store.ts';
import type { RunError } from './inbound/store.ts';
import type { Visibility } from './knowledge/registry.ts';
import type { Audience } from './knowledge/store.ts';
import type { ListReason } from './mail/decision.ts';
import type { MessageError } from './mail/store.ts';
import type { RichNode } from './metadata/index.ts';
import type { Choices } from './notifications/rules.ts';
import type { Tile } from './reports/contract-dashboards.ts';
import type { Effect } from './rules/actions.ts';
import type { Pause, Threshold } from './sla/rules.ts';

declare module '../platform/database/table.ts' {
  interface ColumnTypes {
    'comments.visibility': CommentVisibility;
    'desk_queues.definition': QueueDefinition;
    'groups.name': Localized;
    'import_rows.errors': FaultDetail[];
    'inbound_runs.error': RunError;
    'kb_versions.audiences': Audience[];
    'kb_versions.document': RichNode;
    'kb_versions.visibility': Visibility;
    'mail_messages.detail': MessageError;
    'mail_messages.reason': ListReason;
    'notification_settings.choices': Partial<Choices>;
    'org_units.name': Localized;
    'report_dashboards.tiles': Tile[];
    'rule_runs.chain': readonly string[];
    'rule_runs.effects': readonly Effect[];
    'rule_runs.error': { code: string; message: string };
    'sla_instances.notified_thresholds': readonly Threshold[];
    'sla_instances.pauses': readonly Pause[];
  }
}
