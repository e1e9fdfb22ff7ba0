/** System fields of every record, for conditions (docs/spec/search.md#condition-language). */
import { useMemo } from 'react';
import { useText } from '../i18n/text.ts';
import type { ConditionField } from './model.ts';
import { texts } from './texts.ts';

/** @param states the possible workflow states, by code */
export function useSystemFields(states: readonly { code: string; name: string }[]): readonly ConditionField[] {
  const t = useText(texts);
  return useMemo((): ConditionField[] => {
    const field = (
      code: string,
      name: string,
      dataType: ConditionField['dataType'],
      options?: { code: string; name: string }[],
    ): ConditionField => ({
      code,
      name,
      dataType,
      multiple: false,
      constraints: options === undefined ? {} : { options },
    });
    // Several workflows may have a state with the same code.
    const unique = [...new Map(states.map(({ code, name }) => [code, { code, name }])).values()];
    const categories = (['open', 'waiting', 'done'] as const).map((code) => ({ code, name: t[code] }));
    return [
      field('workflowState', t.workflowState, 'enum', unique),
      field('workflowCategory', t.workflowCategory, 'enum', categories),
      field('number', t.number, 'string'),
      field('title', t.title, 'string'),
      field('createdAt', t.createdAt, 'datetime'),
      field('createdBy', t.createdBy, 'user'),
      field('updatedAt', t.updatedAt, 'datetime'),
      field('updatedBy', t.updatedBy, 'user'),
    ];
  }, [t, states]);
}
