/** Global settings: one mapping of the configuration. */
import { Autocomplete, NumberInput, Stack } from '@mantine/core';
import { LANGUAGES } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { Page } from '../../ui/page.tsx';
import { at, textAt } from '../config/form-parts.tsx';
import { ItemEditor, type ItemFormProps } from '../config/item-editor.tsx';
import { texts } from './texts.ts';

export default function SettingsPage() {
  const t = useText(texts);
  return (
    <Page title={t.title} hint={t.hint}>
      <ItemEditor section="settings" code="settings" map form={SettingsForm} />
    </Page>
  );
}

function SettingsForm({ item, set }: ItemFormProps) {
  const t = useText(texts);
  const text = (key: 'defaultLocale' | 'timezone', data: readonly string[]) => (
    <Autocomplete
      label={t[key]}
      data={[...data]}
      limit={50}
      value={textAt(item, [key])}
      onChange={(value) => set([key], value)}
    />
  );
  const number = (key: 'attachmentMaxBytes' | 'searchExactTotal') => (
    <NumberInput
      label={t[key]}
      value={Number(at(item, [key]) ?? 0)}
      min={0}
      thousandSeparator=" "
      onChange={(value) => set([key], Number(value))}
    />
  );
  return (
    <Stack gap="sm" maw="28rem">
      {text('defaultLocale', LANGUAGES)}
      {text('timezone', Intl.supportedValuesOf('timeZone'))}
      {number('attachmentMaxBytes')}
      {number('searchExactTotal')}
    </Stack>
  );
}
