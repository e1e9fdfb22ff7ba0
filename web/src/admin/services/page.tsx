/** Services and their audiences. */
import { Stack } from '@mantine/core';
import { useText } from '../../i18n/text.ts';
import { AudiencePart } from '../config/audience-part.tsx';
import { ConfigScreen } from '../config/config-screen.tsx';
import { CodeInput, LocalizedInputs, NameInputs } from '../config/form-parts.tsx';
import type { ItemFormProps } from '../config/item-editor.tsx';
import { texts as configTexts } from '../config/texts.ts';
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
  const t = useText(configTexts);
  return (
    <Stack gap="sm">
      <CodeInput {...props} />
      <NameInputs item={item} set={set} />
      <LocalizedInputs item={item} set={set} path={['description']} ru={t.descriptionRu} en={t.descriptionEn} />
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
