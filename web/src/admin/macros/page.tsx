/** Macros: prepared comments and changes of records. */
import { Select, SimpleGrid, Stack, Text } from '@mantine/core';
import { COMMENT_VISIBILITIES } from '../../../../src/contract/comment-visibility.ts';
import { VISIBILITY_VIEWS } from '../../desk/comment-visibility.tsx';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { Assignments } from '../config/assignments.tsx';
import { ChooseItems, ChooseOne } from '../config/choices.tsx';
import { configPage } from '../config/config-screen.tsx';
import { at, CodeInput, codesAt, type FormPart, LocalizedInputs, NameInputs, textAt } from '../config/form-parts.tsx';
import type { ItemFormProps } from '../config/item-editor.tsx';
import { useTypeShape } from '../config/type-shape.ts';
import { texts } from './texts.ts';

const TEMPLATE = `code: my-macro
name:
  ru-RU: Новый макрос
  en-US: New macro
types: [incident]
comment:
  visibility: public
  body:
    ru-RU: 'Здравствуйте, {{ requester }}!'
    en-US: 'Hello {{ requester }},'
`;

/** Names that the text of a comment can contain besides the codes of fields. */
const INSERTED = '{{ title }}, {{ number }}, {{ $me }}';

function MacroForm(props: ItemFormProps) {
  const { item, set } = props;
  const t = useText(texts);
  const types = codesAt(item, ['types']);
  const roles = codesAt(item, ['roles']);
  const { fields, transitions } = useTypeShape(types);
  const values = (at(item, ['set']) ?? {}) as Readonly<Record<string, unknown>>;
  // Remarks of the transition have inputs of their own.
  const remarks = Object.fromEntries(Object.entries(values).filter(([code]) => code.startsWith('$')));
  const changes = Object.fromEntries(Object.entries(values).filter(([code]) => !code.startsWith('$')));
  const transition = textAt(item, ['transition']);
  const put = (next: Record<string, unknown>): void => set(['set'], Object.keys(next).length === 0 ? undefined : next);
  return (
    <Stack gap="sm">
      <NameInputs item={item} set={set} />
      <CodeInput {...props} />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <ChooseItems
          section="types"
          label={t.types}
          required
          value={types}
          onChange={(codes) => set(['types'], codes)}
        />
        <ChooseItems
          section="roles"
          label={t.roles}
          placeholder={roles.length === 0 ? t.rolesHint : undefined}
          value={roles}
          onChange={(codes) => set(['roles'], codes.length === 0 ? undefined : codes)}
        />
      </SimpleGrid>
      <CommentInputs item={item} set={set} />
      <ChooseOne
        label={t.transition}
        placeholder={t.noTransition}
        choices={transitions}
        value={transition || null}
        onChange={(code) => set(['transition'], code ?? undefined)}
      />
      {transition !== '' && (
        <LocalizedInputs item={item} set={set} path={['set', '$reason']} ru={t.reasonRu} en={t.reasonEn} />
      )}
      <Assignments label={t.sets} value={changes} onChange={(next) => put({ ...next, ...remarks })} fields={fields} />
    </Stack>
  );
}

function CommentInputs({ item, set }: FormPart) {
  const t = useText(texts);
  const language = useLanguage();
  const chosen = textAt(item, ['comment', 'visibility']);
  return (
    <>
      <Select
        label={t.comment}
        placeholder={t.noComment}
        clearable
        clearButtonProps={{ 'aria-label': t.noComment }}
        data={COMMENT_VISIBILITIES.map((one) => ({
          value: one as string,
          label: VISIBILITY_VIEWS[one].label[language],
        }))}
        value={chosen || null}
        onChange={(next) => (next === null ? set(['comment'], undefined) : set(['comment', 'visibility'], next))}
      />
      {chosen !== '' && (
        <>
          <LocalizedInputs item={item} set={set} path={['comment', 'body']} ru={t.bodyRu} en={t.bodyEn} lines />
          <Text size="xs" c="dimmed">
            {t.bodyHint(INSERTED)}
          </Text>
        </>
      )}
    </>
  );
}

export default configPage({
  section: 'macros',
  screen: 'macros',
  texts,
  template: TEMPLATE,
  form: MacroForm,
});
