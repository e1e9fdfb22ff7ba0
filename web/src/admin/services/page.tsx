/** Services and their audiences. */
import { Stack } from '@mantine/core';
import { useText } from '../../i18n/text.ts';
import { AudiencePart } from '../config/audience-part.tsx';
import { ConfigScreen } from '../config/config-screen.tsx';
import { CodeInput, DescriptionInputs, NameInputs } from '../config/form-parts.tsx';
import type { ItemFormProps } from '../config/item-editor.tsx';
import type { ScreenProps } from '../../ui/page.tsx';
import { texts } from './texts.ts';

const TEMPLATE = `code: my-service
name:
  ru-RU: Новая услуга
  en-US: New service
audience:
  everyone: true
`;

function ServiceForm(props: ItemFormProps) {
  const { item, set } = props;
  return (
    <Stack gap="sm">
      <CodeInput {...props} />
      <NameInputs item={item} set={set} />
      <DescriptionInputs item={item} set={set} />
      <AudiencePart item={item} set={set} />
    </Stack>
  );
}

export default function ServicesPage({ path }: ScreenProps) {
  const t = useText(texts);
  return (
    <ConfigScreen
      section="services"
      screen="services"
      path={path}
      title={t.title}
      hint={t.hint}
      newTitle={t.create}
      empty={t.empty}
      template={TEMPLATE}
      form={ServiceForm}
    />
  );
}
