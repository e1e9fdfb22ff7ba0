/** The tools above a list: search, state, condition, columns, preview, refresh, export, and a new record. */
import { ActionIcon, Button, Loader, NativeSelect, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconColumns3, IconLayoutSidebarRight, IconPlus, IconRefresh, IconSearch } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { OnFirstUse } from '../../ui/on-first-use.tsx';
import type { DeskType, QueueDefinition } from '../queries.ts';
import type { ColumnControl } from './column-layout.ts';
import { FilterButton } from './filter-button.tsx';
import classes from './list.module.css';
import { texts } from './texts.ts';

const loadColumnChoice = async () => (await import('./column-choice.tsx')).ColumnChoice;

export type OnDefinition = (definition: QueueDefinition) => void;

export function ColumnsButton(choice: ColumnControl) {
  const t = useText(texts);
  const [opened, setOpened] = useState(false);
  return (
    <OnFirstUse popup="dialog" load={loadColumnChoice} more={choice} opened={opened} onOpened={setOpened}>
      <ActionIcon variant="default" size={30} aria-label={t.columns} title={t.columns}>
        <IconColumns3 size={16} />
      </ActionIcon>
    </OnFirstUse>
  );
}

interface FiltersProps {
  definition: QueueDefinition;
  onDefinition: OnDefinition;
  type: DeskType | undefined;
  types: readonly DeskType[];
  fields: readonly FieldSchema[];
}

/** The quick search, the state, and the condition of the list. */
export function Filters({ definition, onDefinition, type, types, fields }: FiltersProps) {
  const t = useText(texts);
  const setWords = useDebouncedCallback((q: string) => onDefinition(without({ ...definition, q }, 'q')), 350);
  return (
    <>
      <TextInput
        key={`${definition.type ?? ''}${definition.state ?? ''}`}
        className={classes.search}
        type="search"
        placeholder={t.quick}
        aria-label={t.quick}
        leftSection={<IconSearch size={14} />}
        defaultValue={definition.q ?? ''}
        onChange={(event) => setWords(event.currentTarget.value)}
      />
      {type !== undefined && type.states.length > 0 && (
        <NativeSelect
          aria-label={t.state}
          className={classes.state}
          data={[
            { value: 'ACTIVE', label: t.anyState },
            ...type.states.map((state) => ({ value: state.code, label: state.name })),
            { value: 'ARCHIVED', label: t.archivedState },
          ]}
          value={definition.state ?? 'ACTIVE'}
          onChange={(event) => {
            const state = event.currentTarget.value;
            onDefinition(state === 'ACTIVE' ? without(definition, 'state') : { ...definition, state });
          }}
        />
      )}
      {definition.state !== 'ARCHIVED' && (
        <FilterButton
          size={30}
          value={definition.filter}
          onApply={(filter) =>
            onDefinition(filter === undefined ? without(definition, 'filter') : { ...definition, filter })
          }
          fields={fields}
          types={type === undefined ? types : [type]}
        />
      )}
    </>
  );
}

export function RefreshButton({ refreshing, onRefresh }: { refreshing: boolean; onRefresh: () => void }) {
  const t = useText(texts);
  return (
    <ActionIcon variant="default" size={30} aria-label={t.refresh} title={t.refreshed} onClick={onRefresh}>
      {refreshing ? <Loader size={14} /> : <IconRefresh size={16} />}
    </ActionIcon>
  );
}

export function CreateButton({ type }: { type: DeskType }) {
  const t = useText(texts);
  return (
    <Button
      leftSection={<IconPlus size={14} />}
      renderRoot={(props) => <Link {...props} to="/new/$typeCode" params={{ typeCode: type.code }} />}
    >
      {t.create}
    </Button>
  );
}

/** Removes the filter `key` from the definition; a non-blank `q` is kept. */
function without(definition: QueueDefinition, key: 'q' | 'state' | 'filter'): QueueDefinition {
  if (key === 'q' && definition.q !== undefined && definition.q.trim() !== '') return definition;
  const { [key]: _gone, ...rest } = definition;
  return rest;
}

/** Shows or hides the preview of the current record. */
export function PreviewButton({ shown, onToggle }: { shown: boolean; onToggle: () => void }) {
  const t = useText(texts);
  return (
    <ActionIcon
      variant={shown ? 'light' : 'default'}
      color={shown ? 'petrol' : 'gray'}
      size={30}
      aria-label={t.preview}
      title={t.preview}
      aria-pressed={shown}
      onClick={onToggle}
    >
      <IconLayoutSidebarRight size={16} />
    </ActionIcon>
  );
}
