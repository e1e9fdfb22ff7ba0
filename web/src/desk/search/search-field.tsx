/** The field for the words of a search. It offers records while the user types; a click on one opens it. */
import { Autocomplete } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { StateBadge } from '../record/state-badge.tsx';
import classes from './search.module.css';
import { suggestionName, useSuggestions } from './suggestions.ts';

interface SearchFieldProps {
  label: string;
  value: string;
  onChange: (next: string) => void;
}

export function SearchField({ label, value, onChange }: SearchFieldProps) {
  const navigate = useNavigate();
  const [opened, setOpened] = useState(false);
  const offered = new Map(useSuggestions(value).map((one) => [one.id, one]));
  return (
    <Autocomplete
      size="md"
      className={classes.words}
      type="search"
      value={value}
      onChange={(next) => {
        // A chosen option is passed as well.
        if (!offered.has(next)) onChange(next);
      }}
      data={[...offered.keys()]}
      filter={({ options }) => options}
      // Only typing opens the list: it would cover the results of the words in the address.
      openOnFocus={false}
      dropdownOpened={opened}
      onDropdownOpen={() => setOpened(true)}
      onDropdownClose={() => setOpened(false)}
      onKeyDown={({ key }) => {
        if (key === 'Enter') setOpened(false);
      }}
      renderOption={({ option }) => {
        const one = offered.get(option.value);
        return one === undefined ? null : (
          <span className={classes.suggestion}>
            <span className={classes.suggested}>{suggestionName(one)}</span>
            {one.workflowState !== null && <StateBadge state={one.workflowState} />}
          </span>
        );
      }}
      onOptionSubmit={(id) => void navigate({ to: '/records/$recordId', params: { recordId: id } })}
      placeholder={label}
      aria-label={label}
      leftSection={<IconSearch size={18} />}
      autoFocus
    />
  );
}
