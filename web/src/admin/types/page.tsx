/** Record types: the list, and the editor of one type with its fields, text and a preview of the record form. */
import { useText } from '../../i18n/text.ts';
import { ConfigScreen } from '../config/config-screen.tsx';
import type { ScreenProps } from '../../ui/page.tsx';
import { TypeAside } from './aside.tsx';
import { texts } from './texts.ts';
import { TypeForm } from './type-form.tsx';

const TEMPLATE = `code: my-type
name:
  ru-RU: Новый вид
  en-US: New type
category: object
title: title
fields:
  - code: title
    name:
      ru-RU: Тема
      en-US: Title
    dataType: string
    required: true
`;

export default function TypesPage({ path }: ScreenProps) {
  const t = useText(texts);
  return (
    <ConfigScreen
      section="types"
      screen="types"
      path={path}
      title={t.title}
      hint={t.hint}
      newTitle={t.create}
      template={TEMPLATE}
      form={TypeForm}
      aside={TypeAside}
    />
  );
}
