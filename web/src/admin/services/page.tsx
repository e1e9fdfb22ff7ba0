/** Services and their audiences. */
import { Stack } from '@mantine/core';
import { AudiencePart } from '../config/audience-part.tsx';
import { configPage } from '../config/config-screen.tsx';
import { CodeInput, DescriptionInputs, NameInputs } from '../config/form-parts.tsx';
import type { ItemFormProps } from '../config/item-editor.tsx';
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

export default configPage({
  section: 'services',
  screen: 'services',
  texts,
  template: TEMPLATE,
  form: ServiceForm,
});
