/** Form of a role: general rights, actions per type, and its members. */
import { ActionIcon, Button, Checkbox, Group, Select, SimpleGrid, Stack, TagsInput, Title } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { at, CodeInput, DescriptionInputs, NameInputs } from '../config/form-parts.tsx';
import { useCreateFirst } from '../config/missing.tsx';
import { AllOrSome } from '../config/choices.tsx';
import { ConditionPart } from '../config/condition-part.tsx';
import { useTypeShape } from '../config/type-shape.ts';
import type { ItemFormProps } from '../config/item-editor.tsx';
import { sectionQuery } from '../config/queries.ts';
import { nameIn, type Path } from '../config/yaml-text.ts';
import classes from './roles.module.css';
import { useTypeNames } from './matrix.tsx';
import { ACTIONS, type Grant, grantsOf, RIGHTS, rightsOf, useRightWords } from './model.ts';
import { texts } from './texts.ts';
import { INTERFACES } from '../../../../src/contract/rights.ts';
import { isActive } from '../../../../src/contract/state.ts';

export function RoleForm(props: ItemFormProps) {
  const { item, set } = props;
  const t = useText(texts);
  const words = useRightWords();
  return (
    <Stack gap="sm">
      <CodeInput {...props} />
      <NameInputs item={item} set={set} />
      <DescriptionInputs item={item} set={set} />
      <Select
        label={t.interface}
        description={t.interfaceHint}
        data={INTERFACES.map((value) => ({ value, label: t[value] }))}
        value={(at(item, ['interface']) as string | undefined) ?? null}
        onChange={(chosen) => set(['interface'], chosen ?? undefined)}
        clearable
      />
      <Checkbox.Group
        label={t.rights}
        value={rightsOf(item)}
        onChange={(rights) => set(['rights'], rights.length === 0 ? undefined : rights)}
      >
        <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing={10} mt={8}>
          {RIGHTS.map((right) => (
            <Checkbox key={right} value={right} label={words.right(right)} />
          ))}
        </SimpleGrid>
      </Checkbox.Group>
      <Grants {...props} />
      <Holders {...props} />
    </Stack>
  );
}

interface GrantFormProps {
  grant: Grant;
  set: (path: Path, value: unknown) => void;
  remove: () => void;
}

/** Permissions on records of one type: condition, actions, fields and transitions. */
function GrantForm({ grant, set, remove }: GrantFormProps) {
  const t = useText(texts);
  const words = useRightWords();
  const typeName = useTypeNames();
  const name = typeName(grant.type);
  const shape = useTypeShape(grant.type === '*' ? [] : [grant.type]);
  return (
    <fieldset className={classes.grant}>
      <legend>{name}</legend>
      <Stack gap="sm">
        <ConditionPart
          label={`${t.which}: ${name}`}
          none={t.always}
          value={grant.where}
          onChange={(where) => set(['where'], where)}
          fields={shape.conditionFields}
        />
        <Checkbox.Group
          aria-label={`${t.actions}: ${name}`}
          value={[...grant.actions]}
          onChange={(actions) => set(['actions'], actions)}
        >
          <Group gap="10px 16px">
            {ACTIONS.map((action) => (
              <Checkbox key={action} value={action} label={words.action(action)} />
            ))}
          </Group>
        </Checkbox.Group>
        <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
          <AllOrSome
            label={`${t.read}: ${name}`}
            choices={shape.fields}
            value={grant.read}
            onChange={(read) => set(['fields', 'read'], read)}
          />
          <AllOrSome
            label={`${t.write}: ${name}`}
            choices={shape.fields}
            value={grant.write}
            onChange={(write) => set(['fields', 'write'], write)}
          />
          <AllOrSome
            label={`${t.transitions}: ${name}`}
            choices={shape.transitions}
            value={grant.transitions}
            onChange={(codes) => set(['transitions'], codes)}
          />
        </SimpleGrid>
      </Stack>
      <ActionIcon className={classes.remove} aria-label={t.removeGrant(name)} onClick={remove}>
        <IconTrash size={16} />
      </ActionIcon>
    </fieldset>
  );
}

function Grants({ item, set }: ItemFormProps) {
  const t = useText(texts);
  const language = useLanguage();
  const types = useQuery(sectionQuery('types'));
  const [type, setType] = useState<string | null>(null);
  const grants = grantsOf(item);
  const records = (at(item, ['records']) ?? []) as unknown[];
  return (
    <>
      <Title order={2} size="h3">
        {t.onRecords}
      </Title>
      {grants.map((grant, index) => (
        <GrantForm
          // A grant is identified by its index.
          // oxlint-disable-next-line react/no-array-index-key
          key={index}
          grant={grant}
          set={(path, value) => set(['records', index, ...path], value)}
          remove={() => set(['records'], records.toSpliced(index, 1))}
        />
      ))}
      <Group gap="xs" align="flex-end">
        <Select
          label={t.type}
          data={[
            { value: '*', label: t.allTypes },
            ...(types.data ?? [])
              .filter(isActive)
              .map(({ code, name }) => ({ value: code, label: nameIn(name, language) || code })),
          ]}
          value={type}
          onChange={setType}
          searchable
          {...useCreateFirst('types', types.data?.length)}
        />
        <Button
          variant="default"
          leftSection={<IconPlus size={14} />}
          disabled={type === null}
          onClick={() => {
            set(['records'], [...records, { type, actions: ['read'], fields: { read: '*' } }]);
            setType(null);
          }}
        >
          {t.addGrant}
        </Button>
      </Group>
    </>
  );
}

function Holders({ item, set }: ItemFormProps) {
  const t = useText(texts);
  const users = useQuery(sectionQuery('users'));
  const groups = useQuery(sectionQuery('groups'));
  const codes = (list: typeof users.data): string[] => (list ?? []).filter(isActive).map(({ code }) => code);
  const held = (key: 'users' | 'groups'): string[] => (at(item, ['assignedTo', key]) as string[] | undefined) ?? [];
  const put = (key: 'users' | 'groups', list: string[]): void =>
    set(['assignedTo'], { users: held('users'), groups: held('groups'), [key]: list });
  return (
    <>
      <Title order={2} size="h3">
        {t.assigned}
      </Title>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TagsInput
          label={t.users}
          data={codes(users.data)}
          limit={50}
          splitChars={[' ', ',']}
          value={held('users')}
          onChange={(list) => put('users', list)}
        />
        <TagsInput
          label={t.groups}
          data={codes(groups.data)}
          limit={50}
          splitChars={[' ', ',']}
          value={held('groups')}
          onChange={(list) => put('groups', list)}
        />
      </SimpleGrid>
    </>
  );
}
