/** Edits an own or shared dashboard: its name, with whom it is shared, and its tiles. Nothing is saved before "Save". */
import { ActionIcon, Button, Group, MultiSelect, TextInput } from '@mantine/core';
import { IconArrowLeft, IconArrowRight, IconPencil, IconPlus, IconTrash } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import { call } from '../../api/client.ts';
import type { configuration, dashboards } from '../../api/types.ts';
import { useHas } from '../../app/session.ts';
import { GroupsPicker } from '../../fields/pickers.tsx';
import { useLanguage } from '../../i18n/language.ts';
import { nameIn, useText } from '../../i18n/text.ts';
import { invalidate, useAction } from '../../ui/action.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { useUnsavedWarning } from '../../ui/form.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import classes from './dashboards.module.css';
import { useTypeFields } from './fields.ts';
import { type Dashboard, dashboardsQuery, type Scope, type Tile } from './queries.ts';
import { texts } from './texts.ts';
import { TileEditor } from './tile-editor.tsx';
import { TileView } from './tile.tsx';

const NOBODY = { roles: [] as string[], groups: [] as string[] };

interface DashboardEditorProps {
  dashboard: Dashboard;
  scope: Scope;
  onDone: () => void;
}

export function DashboardEditor({ dashboard, scope, onDone }: DashboardEditorProps) {
  const t = useText(texts);
  const has = useHas();
  // As it was opened: a change by somebody else is then refused as a conflict and not overwritten.
  const [opened] = useState(dashboard);
  const start = { name: opened.name, tiles: opened.tiles, sharedWith: opened.sharedWith ?? NOBODY };
  const [name, setName] = useState(start.name);
  const [tiles, setTiles] = useState<readonly Tile[]>(start.tiles);
  const [sharedWith, setSharedWith] = useState(start.sharedWith);
  useUnsavedWarning(JSON.stringify({ name, tiles, sharedWith }) !== JSON.stringify(start));
  const save = useSave(opened, onDone);
  const changes = { name, tiles: [...tiles], ...(has('config.manage') ? { sharedWith } : {}) };
  return (
    <Page
      title={t.edit}
      actions={
        <>
          <Button variant="default" onClick={onDone}>
            {t.cancel}
          </Button>
          <Button disabled={name.trim() === ''} loading={save.isPending} onClick={() => save.mutate(changes)}>
            {t.save}
          </Button>
        </>
      }
    >
      <FaultAlert error={save.error} />
      <Panel>
        <Group align="flex-start" grow>
          <TextInput
            label={t.name}
            required
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          {has('config.manage') && <Sharing value={sharedWith} onChange={setSharedWith} />}
        </Group>
      </Panel>
      <Tiles tiles={tiles} onTiles={setTiles} scope={scope} />
    </Page>
  );
}

/** Saves changes of the dashboard. After a refusal its current state is read, so that it can be opened again. */
function useSave({ id, revision }: Dashboard, onDone: () => void) {
  const t = useText(texts);
  const client = useQueryClient();
  return useAction({
    run: async (changes: { name: string; tiles: Tile[]; sharedWith?: typeof NOBODY }) => {
      try {
        return await call<typeof dashboards.changeDashboard>('PATCH', `/dashboards/${id}`, {
          body: { expectedRevision: revision ?? 0, ...changes },
        });
      } catch (error) {
        void invalidate(client, dashboardsQuery.queryKey);
        throw error;
      }
    },
    touches: [dashboardsQuery.queryKey],
    done: t.saved,
    after: onDone,
    quiet: true,
  });
}

function Sharing({ value, onChange }: { value: typeof NOBODY; onChange: (value: typeof NOBODY) => void }) {
  const t = useText(texts);
  const language = useLanguage();
  const { data = [] } = useQuery({
    queryKey: ['config', 'roles', 'names'],
    queryFn: ({ signal }) => call<typeof configuration.listSection>('GET', '/config/roles', { signal }),
    staleTime: 60_000,
  });
  return (
    <>
      <MultiSelect
        label={t.sharedRoles}
        searchable
        value={value.roles}
        data={data
          .filter(({ state }) => state === 'ACTIVE')
          .map(({ id, code, name }) => ({ value: id, label: nameIn(name, language) || code }))}
        onChange={(roles) => onChange({ ...value, roles })}
      />
      <GroupsPicker label={t.sharedGroups} value={value.groups} onChange={(groups) => onChange({ ...value, groups })} />
    </>
  );
}

interface TilesProps {
  tiles: readonly Tile[];
  onTiles: (tiles: readonly Tile[]) => void;
  scope: Scope;
}

function Tiles({ tiles, onTiles, scope }: TilesProps) {
  const t = useText(texts);
  /** The index of the tile that is edited; the number of tiles for a new one. */
  const [edited, setEdited] = useState<number>();
  const { types, nameOf } = useTypeFields(useMemo(() => tiles.flatMap(({ query }) => query.types), [tiles]));
  const type = types.find(({ category, states }) => category === 'object' && states.length > 0) ?? types[0];
  const fresh: Tile = {
    kind: 'number',
    title: '',
    width: 1,
    query: { types: type === undefined ? [] : [type.code], measures: ['count'] },
  };
  const move = (from: number, to: number): void => {
    const tile = tiles[from];
    if (tile !== undefined) onTiles(tiles.toSpliced(from, 1).toSpliced(to, 0, tile));
  };
  const remove = (index: number): void => onTiles(tiles.toSpliced(index, 1));
  return (
    <>
      <div className={classes.grid}>
        {tiles.map((tile, index) => (
          <TileView
            // Tiles have no id; only the index identifies them.
            // oxlint-disable-next-line react/no-array-index-key
            key={index}
            tile={tile}
            scope={scope}
            nameOf={nameOf}
            tools={
              <TileTools
                tile={tile}
                index={index}
                count={tiles.length}
                onMove={move}
                onEdit={setEdited}
                onRemove={remove}
              />
            }
          />
        ))}
      </div>
      <Button mt="sm" variant="default" leftSection={<IconPlus size={14} />} onClick={() => setEdited(tiles.length)}>
        {t.addTile}
      </Button>
      <TileEditor
        tile={edited === undefined ? undefined : (tiles[edited] ?? fresh)}
        onClose={() => setEdited(undefined)}
        onSave={(tile) => {
          if (edited !== undefined) onTiles(edited < tiles.length ? tiles.with(edited, tile) : [...tiles, tile]);
          setEdited(undefined);
        }}
      />
    </>
  );
}

interface TileToolsProps {
  tile: Tile;
  index: number;
  count: number;
  onMove: (from: number, to: number) => void;
  onEdit: (index: number) => void;
  onRemove: (index: number) => void;
}

function TileTools({ tile, index, count, onMove, onEdit, onRemove }: TileToolsProps) {
  const t = useText(texts);
  const named = (what: string): string => `${what}: ${tile.title}`;
  return (
    <Group gap={2} wrap="nowrap">
      <Tool label={named(t.moveBack)} disabled={index === 0} onClick={() => onMove(index, index - 1)}>
        <IconArrowLeft size={16} />
      </Tool>
      <Tool label={named(t.moveOn)} disabled={index === count - 1} onClick={() => onMove(index, index + 1)}>
        <IconArrowRight size={16} />
      </Tool>
      <Tool label={named(t.editTile)} onClick={() => onEdit(index)}>
        <IconPencil size={16} />
      </Tool>
      <Tool label={named(t.removeTile)} onClick={() => onRemove(index)}>
        <IconTrash size={16} />
      </Tool>
    </Group>
  );
}

interface ToolProps {
  label: string;
  disabled?: boolean;
  onClick: () => void;
  children: ReactNode;
}

function Tool({ label, disabled = false, onClick, children }: ToolProps) {
  return (
    <ActionIcon size="sm" aria-label={label} title={label} disabled={disabled} onClick={onClick}>
      {children}
    </ActionIcon>
  );
}
