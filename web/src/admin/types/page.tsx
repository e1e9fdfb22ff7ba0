/** Record types: the list, and the editor of one type with its fields, text and a preview of the record form. */
import { configPage } from '../config/config-screen.tsx';
import { TypeAside } from './aside.tsx';
import { texts } from './texts.ts';
import { TypeForm } from './type-form.tsx';

const TEMPLATE = `code: my-type
name:
  ru-RU: Новый тип
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

export default configPage({
  section: 'types',
  screen: 'types',
  texts,
  template: TEMPLATE,
  form: TypeForm,
  aside: TypeAside,
});
