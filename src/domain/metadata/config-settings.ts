/** The bundle's section `settings` (docs/spec/configuration.md#bundle). */
import Type, { type Static } from 'typebox';
import { checkTimeZone } from '../../configuration/checks.ts';
import { defineSection } from '../../configuration/define.ts';
import { FieldOf } from '../../configuration/schemas.ts';
import type { CompileView, Report } from '../../configuration/section.ts';
import { closed, LocaleCode, optional } from '../../contract/schemas.ts';
import { problem } from '../../lib/problem.ts';
import type { StoredSettings, TypeDefinition } from './registry.ts';

const FieldList = Type.Array(FieldOf, { maxItems: 20, uniqueItems: true });

const SettingsItem = closed({
  defaultLocale: optional(
    'Language of texts that do not exist in the language of the reader, and of texts that rules write. Default: ru-RU.',
    LocaleCode,
  ),
  timezone: optional(
    'IANA time zone of users without one of their own, and of times in texts that the service writes. Default: Europe/Moscow.',
    Type.String({ minLength: 1, maxLength: 64 }),
  ),
  // The limit must fit into a request body of 10 MiB.
  attachmentMaxBytes: optional(
    'Largest attachment in bytes. Default: 7340032, which is 7 MiB.',
    Type.Integer({ minimum: 1, maximum: 7_864_320 }),
  ),
  searchExactTotal: optional(
    'Number of hits up to which a search counts exactly. Higher values make searches slower. Default: 1000.',
    Type.Integer({ minimum: 1, maximum: 10_000 }),
  ),
  notificationFields: optional(
    'Fields that stand for the roles assignee, group and requester in types where no field has the role.',
    closed(
      {
        assignee: optional(
          'Codes of user or group fields with those who work on a record. Default: the field assignee.',
          FieldList,
        ),
        group: optional(
          'Codes of user or group fields with the group that works on a record. Default: the field group.',
          FieldList,
        ),
        requester: optional(
          'Codes of user or group fields with those who asked for it. Default: the field requester.',
          FieldList,
        ),
      },
      // Of all types.
      { typesAt: 'types' },
    ),
  ),
});

/** Checks that some type has the field, and that it names users or groups. */
function checkPeopleFields(settings: StoredSettings, view: CompileView, report: Report): void {
  const fields = [...view.active<TypeDefinition>('types').values()].flatMap((type) => type.fields);
  for (const [role, codes] of Object.entries(settings.notificationFields ?? {})) {
    for (const [index, code] of codes.entries()) {
      const named = fields.filter((field) => field.code === code);
      if (!named.some(({ dataType }) => dataType === 'user' || dataType === 'group')) {
        report(['notificationFields', role, index], problem('NO_FIELD', { field: code }));
      }
    }
  }
}

export const settingsSection = defineSection<Static<typeof SettingsItem>, StoredSettings>({
  key: 'settings',
  summary: 'Settings of the whole service.',
  shape: 'map',
  schema: SettingsItem,
  normalise: (item) => ({
    defaultLocale: item.defaultLocale ?? 'ru-RU',
    timezone: item.timezone ?? 'Europe/Moscow',
    attachmentMaxBytes: item.attachmentMaxBytes ?? 7_340_032,
    searchExactTotal: item.searchExactTotal ?? 1000,
    ...(item.notificationFields === undefined ? {} : { notificationFields: item.notificationFields }),
  }),
  compile: (settings, view, report) => {
    checkTimeZone(settings.timezone, ['timezone'], report);
    checkPeopleFields(settings, view, report);
    return settings;
  },
});
