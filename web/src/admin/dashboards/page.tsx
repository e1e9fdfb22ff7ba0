/** Dashboards of the configuration: their tiles, and the roles and groups that see them. */
import { Alert, Button, Group, SimpleGrid, Stack, Title } from '@mantine/core';
import { IconArrowUp, IconPlus } from '@tabler/icons-react';
import { useMemo } from 'react';
import { useLanguage } from '../../i18n/language.ts';
import { nameIn, useText } from '../../i18n/text.ts';
import type { Tile } from '../../work/dashboards/queries.ts';
import { QueryInputs } from '../../work/dashboards/tile-editor.tsx';
import { Block } from '../config/block.tsx';
import { ChooseItems } from '../config/choices.tsx';
import { ConditionPart } from '../config/condition-part.tsx';
import { configPage } from '../config/config-screen.tsx';
import { at, CodeInput, codesAt, LocalizedInputs, NameInputs } from '../config/form-parts.tsx';
import form from '../config/form-parts.module.css';
import type { ItemFormProps } from '../config/item-editor.tsx';
import { useCodes, useTypeShape } from '../config/type-shape.ts';
import { texts } from './texts.ts';

const TEMPLATE = `code: my-dashboard
name:
  ru-RU: Новая панель
  en-US: New dashboard
sharedWith: { roles: [], groups: [] }
tiles:
  - kind: number
    title: { ru-RU: Открыто сейчас, en-US: Open now }
    width: 1
    query:
      types: [incident]
      measures: [count]
      filter: { field: workflowCategory, operator: in, value: [open, waiting] }
`;

/** A tile of the bundle: as that of a dashboard, with a title in both languages. The width has a default. */
interface StoredTile extends Omit<Tile, 'title' | 'width'> {
  title: unknown;
  width?: number;
}

function tilesOf(item: unknown): StoredTile[] {
  const list = at(item, ['tiles']);
  if (!Array.isArray(list)) return [];
  return list.filter(
    (one): one is StoredTile =>
      typeof one === 'object' && one !== null && Array.isArray(at(one, ['query', 'types'])) && 'kind' in one,
  );
}

function DashboardForm(props: ItemFormProps) {
  const { item, set } = props;
  const t = useText(texts);
  const tiles = tilesOf(item);
  const shared = { roles: codesAt(item, ['sharedWith', 'roles']), groups: codesAt(item, ['sharedWith', 'groups']) };
  const types = useCodes('types');
  const add = (): void => {
    const query = { types: types.slice(0, 1).map(({ code }) => code), measures: ['count'] };
    set(['tiles'], [...tiles, { kind: 'number', title: { 'ru-RU': 'Новая плитка', 'en-US': 'New tile' }, query }]);
  };
  return (
    <Stack gap="sm">
      <NameInputs item={item} set={set} />
      <CodeInput {...props} />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        {(['roles', 'groups'] as const).map((section) => (
          <ChooseItems
            key={section}
            section={section}
            label={t[section]}
            value={shared[section]}
            onChange={(codes) => set(['sharedWith', section], codes)}
          />
        ))}
      </SimpleGrid>
      {shared.roles.length + shared.groups.length === 0 && (
        <Alert color="yellow" variant="light">
          {t.nobody}
        </Alert>
      )}
      <Group justify="space-between">
        <Title order={2} size="h3">
          {t.tiles}
        </Title>
        <Button variant="default" leftSection={<IconPlus size={14} />} onClick={add}>
          {t.addTile}
        </Button>
      </Group>
      <ul className={form.lines}>
        {tiles.map((tile, index) => (
          // A tile is identified by its index.
          // oxlint-disable-next-line react/no-array-index-key
          <TileBlock key={index} tile={tile} index={index} tiles={tiles} set={set} />
        ))}
      </ul>
    </Stack>
  );
}

interface TileBlockProps {
  tile: StoredTile;
  index: number;
  tiles: readonly StoredTile[];
  set: ItemFormProps['set'];
}

function TileBlock({ tile, index, tiles, set }: TileBlockProps) {
  const t = useText(texts);
  const language = useLanguage();
  const types = useCodes('types');
  const { fields, conditionFields } = useTypeShape(tile.query.types);
  const choices = useMemo(
    () => ({ types, fields, nameOf: (code: string) => fields.find((one) => one.code === code)?.name ?? code }),
    [types, fields],
  );
  const put = (next: StoredTile): void => set(['tiles', index], next);
  const title = nameIn(tile.title, language);
  return (
    <Block name={title} code={tile.kind} remove={() => set(['tiles'], tiles.toSpliced(index, 1))}>
      <LocalizedInputs
        item={{ title: tile.title }}
        set={(_path, next) => put({ ...tile, title: next })}
        path={['title']}
        ru={t.titleRu}
        en={t.titleEn}
      />
      <QueryInputs
        draft={{ ...tile, title, width: tile.width ?? (tile.kind === 'number' ? 1 : 2) }}
        onTile={(next) => put({ ...next, title: tile.title })}
        fields={choices}
      />
      <ConditionPart
        label={t.filter}
        none={t.noFilter}
        value={tile.query.filter}
        onChange={(filter) => {
          const { filter: _before, ...rest } = tile.query;
          put({ ...tile, query: (filter === undefined ? rest : { ...rest, filter }) as Tile['query'] });
        }}
        fields={conditionFields}
      />
      {index > 0 && (
        <Group>
          <Button
            variant="default"
            leftSection={<IconArrowUp size={14} />}
            aria-label={`${t.up}: ${title}`}
            onClick={() => set(['tiles'], tiles.toSpliced(index, 1).toSpliced(index - 1, 0, tile))}
          >
            {t.up}
          </Button>
        </Group>
      )}
    </Block>
  );
}

export default configPage({
  section: 'dashboards',
  screen: 'dashboards',
  texts,
  template: TEMPLATE,
  form: DashboardForm,
});
