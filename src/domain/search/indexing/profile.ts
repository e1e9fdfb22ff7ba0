/**
 * Index profiles: which fields of a type version are indexed, with which weight, and under which field token
 * (docs/explanation/search.md). One value per configuration snapshot.
 */
import { hash } from 'node:crypto';
import type { ConfigSnapshot, ConfigSource, DerivedView } from '../../../platform/unit-of-work/snapshot.ts';
import { descriptorOf, isId } from '../../../lib/data-types/index.ts';
import { restrictedFieldView } from '../../access/index.ts';
import { type FieldDefinition, type TypeRegistry, type TypeVersion, typeView } from '../../metadata/index.ts';
import { fieldTokenOf } from './lexemes.ts';
import type { Numbering } from '../terms.ts';
import type { ReadContext } from '../../../platform/unit-of-work/context.ts';
import { storedProfiles } from './store-rebuild.ts';

/** Increment this if the analysis gives other lexemes for the same text; all rows are then rebuilt. */
export const ANALYSIS_VERSION = 2;
/** Rows of this version lack nothing but the lexeme of the title, so they can be used until they are rebuilt. */
const USABLE_VERSION = 1;

/** Weight class of `tsvector`; `A` is the highest. */
export type Zone = 'A' | 'B' | 'C' | 'D';

export interface ProfileField {
  field: FieldDefinition;
  zone: Zone;
  /** Empty for text that every reader of the record may read. */
  fieldToken: string;
}

/** How the rows of a type version are built. */
export interface IndexProfile {
  /** Stored in the rows. A different profile has a different id. */
  id: number;
  /** The id of the same profile in the version of the analysis before. */
  usableId: number;
  fields: readonly ProfileField[];
}

export interface IndexProfiles {
  of(typeId: string, version: number): IndexProfile;
  /** All current profile ids. Rows with other ids are outdated. */
  ids: readonly number[];
  /** The ids of rows whose words may be searched: the current ones, and those that only lack lexemes of a newer analysis. */
  usableIds: readonly number[];
  /** Codes of the indexed fields of a type, over all its versions. */
  textFields(typeId: string): readonly string[];
  /** The code that the token of a field is made from. */
  storedCode(typeId: string, code: string): string;
  /** Those of them that have a field token. */
  fieldsWithToken(typeId: string): readonly string[];
  /** The forms of record numbers. */
  numberings: readonly Numbering[];
}

function zoneOf(version: TypeVersion, field: FieldDefinition): Zone {
  if (field.code === version.titleField) return 'A';
  return descriptorOf(field.dataType).searchZone ?? 'B';
}

function makeProfile(version: TypeVersion, restricted: (code: string) => boolean): IndexProfile {
  const fields = [...version.fields.values()]
    // Ids are not indexed as text; users filter by them.
    .filter((field) => field.search.text && !isId(field.dataType))
    .map((field) => ({
      field,
      zone: zoneOf(version, field),
      // A rename keeps the token, so that rows stay current.
      fieldToken: restricted(field.code) ? fieldTokenOf(field.storedAs ?? field.code) : '',
    }))
    // The title comes first, because only the first positions of a word are stored.
    .sort((a, b) => Number(b.zone === 'A') - Number(a.zone === 'A'));
  // Words of options are their codes.
  const options = (field: FieldDefinition) =>
    (field.constraints.options ?? []).flatMap(({ code, storedAs }) => (storedAs === undefined ? [] : [code, storedAs]));
  const said = fields.map(({ field, zone, fieldToken }) => [
    field.storedAs ?? field.code,
    field.dataType,
    field.multiple,
    zone,
    fieldToken,
    ...options(field),
  ]);
  const idOf = (analysis: number): number =>
    hash('sha256', JSON.stringify([analysis, version.typeId, version.version, said]), 'buffer').readInt32BE(0);
  return { id: idOf(ANALYSIS_VERSION), usableId: idOf(USABLE_VERSION), fields };
}

function build(_source: ConfigSource, snapshot: ConfigSnapshot): IndexProfiles {
  const types: TypeRegistry = snapshot.get(typeView);
  const restricted = snapshot.get(restrictedFieldView);
  const profiles = new Map<string, IndexProfile>();
  /** Type id → code → field, over all versions of the type. */
  const fields = new Map<string, Map<string, ProfileField>>();
  const numberings = new Map<string, Numbering>();
  for (const type of types.byId.values()) {
    const ofType = new Map<string, ProfileField>();
    fields.set(type.id, ofType);
    for (const version of type.versions.values()) {
      const { numbering } = version.definition;
      if (numbering !== undefined) numberings.set(JSON.stringify(numbering), numbering);
      const profile = makeProfile(version, (code) => restricted(type.id, code));
      profiles.set(`${type.id} ${version.version}`, profile);
      for (const one of profile.fields) {
        // A field of any version that was renamed tells under which code all are stored.
        if (one.field.storedAs !== undefined || !ofType.has(one.field.code)) ofType.set(one.field.code, one);
      }
    }
  }
  const codesOf = (typeId: string, is: (one: ProfileField) => boolean): string[] =>
    [...(fields.get(typeId)?.values() ?? [])].filter(is).map(({ field }) => field.code);
  return {
    of: (typeId, version) => {
      const profile = profiles.get(`${typeId} ${version}`);
      if (profile === undefined) throw new Error(`type ${typeId} has no version ${version}`);
      return profile;
    },
    ids: [...new Set([...profiles.values()].map(({ id }) => id))],
    usableIds: [...new Set([...profiles.values()].flatMap(({ id, usableId }) => [id, usableId]))],
    textFields: (typeId) => codesOf(typeId, () => true),
    storedCode: (typeId, code) => fields.get(typeId)?.get(code)?.field.storedAs ?? code,
    fieldsWithToken: (typeId) => codesOf(typeId, ({ fieldToken }) => fieldToken !== ''),
    numberings: [...numberings.values()],
  };
}

export const profileView: DerivedView<IndexProfiles> = { name: 'search.profiles', build };

/**
 * Whether all rows of the index match the current configuration. After a change of roles, some rows are outdated until the
 * background job rebuilds them. Until then, questions use the field tokens of all fields, and rows whose words without a token
 * may belong to a field that is hidden now are used only for callers who may read every field (docs/explanation/search.md).
 */
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
