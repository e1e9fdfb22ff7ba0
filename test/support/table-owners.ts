/** Which part owns each table, and who else reads or writes it and why (docs/architecture.md). Modules declare their own tables. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { MODULES } from '../../src/modules.ts';
import { ROOT } from './source-files.ts';

export interface Ownership {
  owner: string;
  /** Other modules that read or write the table, and the reason. */
  reads?: Readonly<Record<string, string>>;
  writes?: Readonly<Record<string, string>>;
}

const NAMES = 'the names of users are read in the statement that reads their actions';
const RIGHTS = 'rights are computed from users, groups and units in one statement';
const CODES = 'calls refer to users, groups and units by id, configuration items by login or code';
const SEARCHED = 'rights, order and filters are part of the search statement, before LIMIT and COUNT';
const EXISTENCE = 'a statement checks that the users, groups and units in values exist';

/** Other modules that read or write the tables of modules, and why. */
const OTHERS: Readonly<Record<string, Omit<Ownership, 'owner'>>> = {
  removed_states: { reads: { objects: 'no record enters a state that was removed' } },
  users: {
    reads: {
      access: RIGHTS,
      objects: EXISTENCE,
      knowledge: `${NAMES}; ${EXISTENCE}`,
      sla: NAMES,
      reports: "the caller's time zone is read with the state of the facts in one statement",
      notifications: 'time zones of recipients are read with their choices in one statement',
      platform: NAMES,
      webhooks: CODES,
      search: 'users, groups and units are searched by name',
    },
    writes: { access: 'the password hash is a column of the user' },
  },
  groups: {
    reads: {
      access: RIGHTS,
      objects: EXISTENCE,
      knowledge: EXISTENCE,
      webhooks: CODES,
      search: 'groups and units are searched by name',
    },
  },
  org_units: {
    reads: {
      access: RIGHTS,
      objects: EXISTENCE,
      knowledge: EXISTENCE,
      webhooks: CODES,
      search: 'groups and units are searched by name',
    },
  },
  group_members: { reads: { access: RIGHTS } },
  org_members: { reads: { access: RIGHTS } },
  role_assignments: {
    reads: { identity: 'the escalation check reads in one statement which roles a membership grants' },
  },
  objects: {
    reads: {
      search: SEARCHED,
      desk: SEARCHED,
      access: 'the impact of a plan counts records under the rights before and after in one statement',
      sla: 'the impact of a plan is limited to instances of records that the caller may read',
      webhooks: 'events are dispatched by the type of their records, a thousand in one statement',
      reports: 'rights, filter and groups are part of the counting statement',
      feed: 'rights on events are part of the statement, before LIMIT',
      notifications: 'rights on notifications are part of the statement, before LIMIT and COUNT',
      rules: 'rights are part of the statement that reads the history for a preview',
    },
  },
  comments: {
    reads: {
      search: 'a rebuild of the index reads the stored comments',
      reports: 'a rebuild of the facts finds the authors of replies',
      feed: 'rights on events are part of the statement, before LIMIT',
      notifications: 'rights on notifications are part of the statement, before LIMIT and COUNT',
    },
  },
  cache_versions: {
    reads: {
      configuration: 'a version of the configuration is written with its number in one statement',
      notifications: 'watches are judged again after a change of rights',
    },
  },
  config_items: {
    reads: {
      platform: 'the snapshot of the configuration is read in one statement',
      webhooks: 'a subscription is read with its current secret in one statement',
      access: 'the check for the last administrator reads the roles after the change',
      mail: 'a mailbox that was disabled since is not reported as unreadable',
    },
  },
  config_ids: {
    reads: { platform: 'the snapshot of the configuration is read in one statement' },
  },
  type_versions: {
    reads: {
      platform: 'the snapshot of the configuration is read in one statement',
      objects: 'a record is not written under a version that a change of its type has replaced',
    },
  },
  journal: {
    reads: {
      objects: 'the history of a record is its rows of the journal',
      comments: 'a conflict lists the changes since a revision from the events of the comment',
      webhooks: 'deliveries copy data of the event',
      sla: 'the history of an instance is its events',
      attachments: 'docket doctor compares a file with its events',
      relations: 'docket doctor compares a relation with its events',
      reports: 'a rebuild computes the facts of a record from its history; counts follow the changes of records',
      feed: 'the changes feed shows its rows in the order of their places',
      search: 'the index in memory reads the records of the transactions that it has not seen',
      notifications: 'notifications are made of its rows in the order of their places',
      rules: 'the preview of a rule reads the history backwards',
    },
  },
  journal_places: {
    reads: {
      feed: 'a page of the feed is a range of places',
      notifications: 'notifications are made of a range of places',
    },
  },
  journal_consumers: {
    reads: { notifications: 'streams are notified up to the place of the consumer' },
  },
};

/** Tables that no code uses any more; the version after this one drops them. */
export const RETIRED: readonly string[] = [
  'report_rebuild',
  'search_rebuild',
  'rule_timer_scans',
  'outbox',
  'notification_making',
  'report_counting',
];

export const TABLES: Readonly<Record<string, Ownership>> = {
  ...Object.fromEntries(
    MODULES.flatMap(({ name, tables = {} }) =>
      Object.keys(tables).map((table) => [table, { owner: partOf(name), ...OTHERS[table] }]),
    ),
  ),
  ...Object.fromEntries(RETIRED.map((table) => [table, { owner: 'nobody' }])),
};

/** Modules of the platform are one part. */
function partOf(module: string): string {
  return existsSync(path.join(ROOT, 'src/platform', module)) ? 'platform' : module;
}
