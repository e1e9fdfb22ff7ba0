/**
 * How records of a type version are made searchable: which fields give words, in which zone, and under which label
 * (architecture, "Search and field rights"). One value per configuration snapshot; pure.
 */
import { hash } from 'node:crypto';
import type { ConfigSnapshot, ConfigSource, DerivedView } from '../../platform/unit-of-work/snapshot.ts';
import { descriptorOf, isId } from '../../lib/data-types/index.ts';
import { hiddenFieldView } from '../access/index.ts';
import { type FieldDefinition, type TypeRegistry, type TypeVersion, typeView } from '../metadata/index.ts';
import { labelOf } from './lexemes.ts';

/** Raised whenever the same text gives other lexemes than before: all rows are made anew then. */
export const ANALYSIS_VERSION = 1;

/** Where a word stands: `A` weighs most. */
export type Zone = 'A' | 'B' | 'C' | 'D';

export interface ProfileField {
  field: FieldDefinition;
  zone: Zone;
  /** Empty for text that no reading grant hides. */
  fieldToken: string;
}

/** The making of one type version's rows. */
export interface IndexProfile {
  /** Stands in the rows; another making is another number. */
  id: number;
  fields: readonly ProfileField[];
}

export interface IndexProfiles {
  of(typeId: string, version: number): IndexProfile;
  /** Every number that a row may have; rows of others are to be made anew. */
  ids: readonly number[];
  /** Codes of the fields of a type that give words, in any of its versions. */
  textFields(typeId: string): readonly string[];
  /** Those of them that carry a label. */
  labelled(typeId: string): readonly string[];
  /** What numbers of records begin with. */
  prefixes: readonly string[];
}

function zoneOf(version: TypeVersion, field: FieldDefinition): Zone {
  if (field.code === version.titleField) return 'A';
  return descriptorOf(field.dataType).searchZone ?? 'B';
}

function makeProfile(version: TypeVersion, hidden: (code: string) => boolean): IndexProfile {
  const fields = [...version.fields.values()]
    // An id is no text: who looks for a person or a record filters by it.
    .filter((field) => field.search.text && !isId(field.dataType))
    .map((field) => ({
      field,
      zone: zoneOf(version, field),
      fieldToken: hidden(field.code) ? labelOf(field.code) : '',
    }))
    // The title goes first: of a word's places only the first are kept.
    .sort((a, b) => Number(b.zone === 'A') - Number(a.zone === 'A'));
  const said = fields.map(({ field, zone, fieldToken }) => [
    field.code,
    field.dataType,
    field.multiple,
    zone,
    fieldToken,
  ]);
  const digest = hash('sha256', JSON.stringify([ANALYSIS_VERSION, version.typeId, version.version, said]), 'buffer');
  return { id: digest.readInt32BE(0), fields };
}

function build(_source: ConfigSource, snapshot: ConfigSnapshot): IndexProfiles {
  const types: TypeRegistry = snapshot.get(typeView);
  const hidden = snapshot.get(hiddenFieldView);
  const profiles = new Map<string, IndexProfile>();
  const text = new Map<string, Set<string>>();
  const labelled = new Map<string, Set<string>>();
  const prefixes = new Set<string>();
  for (const type of types.byId.values()) {
    const all = new Set<string>();
    const kept = new Set<string>();
    for (const version of type.versions.values()) {
      const { numbering } = version.definition;
      if (numbering !== undefined) prefixes.add(numbering.prefix);
      const profile = makeProfile(version, (code) => hidden(type.id, code));
      profiles.set(`${type.id} ${version.version}`, profile);
      for (const { field, fieldToken } of profile.fields) {
        all.add(field.code);
        if (fieldToken !== '') kept.add(field.code);
      }
    }
    text.set(type.id, all);
    labelled.set(type.id, kept);
  }
  return {
    of: (typeId, version) => {
      const profile = profiles.get(`${typeId} ${version}`);
      if (profile === undefined) throw new Error(`type ${typeId} has no version ${version}`);
      return profile;
    },
    ids: [...new Set([...profiles.values()].map((profile) => profile.id))],
    textFields: (typeId) => [...(text.get(typeId) ?? [])],
    labelled: (typeId) => [...(labelled.get(typeId) ?? [])],
    prefixes: [...prefixes],
  };
}

export const profileView: DerivedView<IndexProfiles> = { name: 'search.profiles', build };
