/** The bundle's section `settings` (docs/spec/configuration.md#bundle). */
import Type, { type Static } from 'typebox';
import { checkTimeZone } from '../../configuration/checks.ts';
import { defineSection } from '../../configuration/define.ts';
import { FieldOf, LocaleCode } from '../../configuration/schemas.ts';
import type { CompileView, Report } from '../../configuration/section.ts';
import { closed } from '../../contract/schemas.ts';
import { problem } from '../../lib/problem.ts';
import type { StoredSettings, TypeDefinition } from './registry.ts';

const FieldList = Type.Array(FieldOf, { maxItems: 20, uniqueItems: true });

const SettingsItem = closed({
  defaultLocale: Type.Optional(LocaleCode),
  timezone: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  // The limit must fit into a request body of 10 MiB.
  attachmentMaxBytes: Type.Optional(Type.Integer({ minimum: 1, maximum: 7_864_320 })),
  searchExactTotal: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
  notificationFields: Type.Optional(
    closed(
      {
        assignee: Type.Optional(FieldList),
        group: Type.Optional(FieldList),
        requester: Type.Optional(FieldList),
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
