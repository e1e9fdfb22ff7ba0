/** Global settings: one mapping of the configuration. */
import { NumberInput, Stack, TextInput } from '@mantine/core';
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
  const text = (key: 'defaultLocale' | 'timezone') => (
    <TextInput label={t[key]} value={textAt(item, [key])} onChange={(event) => set([key], event.currentTarget.value)} />
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
      {text('defaultLocale')}
      {text('timezone')}
      {number('attachmentMaxBytes')}
      {number('searchExactTotal')}
    </Stack>
  );
}
