/** The bundle's sections `settings` and `types` (docs/spec/configuration.md#bundle). */
import Type, { type Static } from 'typebox';
import { closed } from '../../contract/schemas.ts';
import { checkTimeZone } from '../../configuration/checks.ts';
import { defineSection } from '../../configuration/define.ts';
import { LocaleCode } from '../../configuration/schemas.ts';
import type { Settings } from './registry.ts';

export { type RecordProbe, typesSection } from './config-types.ts';

const SettingsItem = closed({
  defaultLocale: Type.Optional(LocaleCode),
  timezone: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  // The limit must fit into a request body of 10 MiB.
  attachmentMaxBytes: Type.Optional(Type.Integer({ minimum: 1, maximum: 7_864_320 })),
  searchExactTotal: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
});

export const settingsSection = defineSection<Static<typeof SettingsItem>, Settings>({
  key: 'settings',
  shape: 'map',
  schema: SettingsItem,
  normalise: (item) => ({
    defaultLocale: item.defaultLocale ?? 'ru-RU',
    timezone: item.timezone ?? 'Europe/Moscow',
    attachmentMaxBytes: item.attachmentMaxBytes ?? 7_340_032,
    searchExactTotal: item.searchExactTotal ?? 1000,
  }),
  compile: (settings, _view, report) => {
    checkTimeZone(settings.timezone, ['timezone'], report);
    return settings;
  },
});
