/** Input for a value in configuration format: users, groups, units and services by login or code, other values as in forms. */
import type { ReactNode } from 'react';
import { FieldInput } from '../../fields/input.tsx';
import type { FieldInputProps } from '../../fields/one-input.tsx';
import { typeOf } from '../../fields/view.ts';
import { ChooseItem, ChooseItems } from './choices.tsx';

export function CodedInput(props: FieldInputProps): ReactNode {
  const { field, value, onChange, error } = props;
  const section = typeOf(field.dataType).refersTo;
  if (section === undefined || section === 'records') return <FieldInput {...props} />;
  const shared = {
    section,
    error,
    ...(props.unlabelled === true ? { 'aria-label': field.name } : { label: field.name }),
  };
  if (field.multiple) {
    const list = Array.isArray(value) ? value.map(String) : [];
    return <ChooseItems {...shared} value={list} onChange={(codes) => onChange(codes.length === 0 ? null : codes)} />;
  }
  return <ChooseItem {...shared} value={typeof value === 'string' ? value : null} onChange={onChange} />;
}
