/**
 * The configuration as one immutable value, shared by all units of work until the configuration version changes.
 *
 * Modules read their part through a derived view (`DerivedView`): a pure function from stored items to the form that the module
 * needs, evaluated once per snapshot and cached with it.
 */
import type { ItemState } from '../../contract/state.ts';
import sql, { type Sql } from 'sql-template-tag';

/** A stored configuration item (table `config_items`). */
export interface ConfigItem {
  id: string;
  section: string;
  code: string;
  state: ItemState;
  version: number;
  /** Time of its last change. */
  updatedAt: string;
  /** Codes that it had before renames. */
  formerCodes?: string[];
  /** The definition with ids instead of logins and codes. */
  compiled: unknown;
}

/** A stored version of a record type (table `type_versions`). */
export interface StoredTypeVersion {
  typeId: string;
  version: number;
  compiled: unknown;
}

export interface ConfigSource {
  items: readonly ConfigItem[];
  typeVersions: readonly StoredTypeVersion[];
}

/** A module's derived view of the configuration. `build` is pure and runs at most once per snapshot. */
export interface DerivedView<T> {
  readonly name: string;
  build(source: ConfigSource, snapshot: ConfigSnapshot): T;
}

/** SQL for the version of the newest configuration that the statement sees. */
export const CONFIG_VERSION = sql`(SELECT v.config FROM cache_versions v)`;

/**
 * SQL for the structure version that the statement sees: it changes with everything that rights depend on, except plain
 * memberships (docs/decisions/0024-plain-memberships-need-no-lock.md).
 */
export const STRUCTURE_VERSION = sql`(SELECT v.rights - v.memberships FROM cache_versions v)`;

export class ConfigSnapshot {
  readonly version: number;
  readonly #source: ConfigSource;
  readonly #views = new Map<string, unknown>();

  constructor(version: number, source: ConfigSource) {
    this.version = version;
    this.#source = source;
  }

  get<T>(view: DerivedView<T>): T {
    let built = this.#views.get(view.name) as T | undefined;
    if (built === undefined) {
      built = view.build(this.#source, this);
      this.#views.set(view.name, built);
    }
    return built;
  }

  items(section: string): ConfigItem[] {
    return this.#source.items.filter((item) => item.section === section);
  }
}

/** Reads the whole configuration in one statement, so that it is consistent. */
export async function loadSnapshot(db: { query<Row>(statement: Sql): Promise<Row[]> }): Promise<ConfigSnapshot> {
  const rows = await db.query<{
    version: number;
    items: ConfigItem[] | null;
    versions: StoredTypeVersion[] | null;
  }>(sql`
    SELECT ${CONFIG_VERSION} AS version,
      (SELECT jsonb_agg(jsonb_build_object('id', id, 'section', section, 'code', code, 'formerCodes', former_codes, 'state', state,
         'version', version, 'updatedAt', to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'compiled', compiled)
         ORDER BY section, code) FROM config_items) AS items,
      (SELECT jsonb_agg(jsonb_build_object('typeId', type_id, 'version', version, 'compiled', compiled)
         ORDER BY type_id, version) FROM type_versions) AS versions`);
  const row = rows[0];
  if (row === undefined) throw new Error('the table cache_versions is empty');
  return new ConfigSnapshot(row.version, { items: row.items ?? [], typeVersions: row.versions ?? [] });
}
