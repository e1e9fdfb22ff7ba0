/** Grants as a matrix: a row per grant, a column per action, and the readable and writable fields. */
import { IconCheck, IconMinus } from '@tabler/icons-react';
import { Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { useHas } from '../../app/session.ts';
import { deskTypesQuery, typeFieldsQuery } from '../../desk/queries.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { sectionQuery } from '../config/queries.ts';
import { nameIn } from '../config/yaml-text.ts';
import { CsvButton } from '../../ui/download.tsx';
import classes from './roles.module.css';
import { ACTIONS, conditionLine, type Grant, type Names, useRightWords } from './model.ts';
import { texts } from './texts.ts';

/** Names of types by code, as far as the user may see them. */
export function useTypeNames(): (code: string) => string {
  const t = useText(texts);
  const language = useLanguage();
  const has = useHas();
  const types = useQuery({ ...sectionQuery('types'), enabled: has('config.manage') });
  const byCode = new Map(types.data?.map((type) => [type.code, nameIn(type.name, language)]));
  return (code) => (code === '*' ? t.allTypes : (byCode.get(code) ?? code));
}

/** Names of a type's fields by code, as far as the user may read them. */
function useFieldNames(type: string | undefined): (code: string) => string {
  const { data: types } = useQuery(deskTypesQuery);
  const id = types?.find((one) => one.code === type)?.id;
  const { data } = useQuery({ ...typeFieldsQuery(id ?? ''), enabled: id !== undefined });
  const names = new Map((data?.fields as FieldSchema[] | undefined)?.map((field) => [field.code, field.name]));
  return (code) => names.get(code) ?? code;
}

/** Readable or writable fields: by name if a type is given, else by code. */
export function NamesList({ names, type }: { names: Names; type?: string | undefined }) {
  const t = useText(texts);
  const nameOf = useFieldNames(type);
  if (names === '*') return <span className={classes.all}>{t.all}</span>;
  if (names.length === 0) return <span className={classes.nothing}>{t.none}</span>;
  return <span className={classes.names}>{names.map(nameOf).join(', ')}</span>;
}

interface MatrixProps {
  grants: readonly (Grant & { key: string; before?: ReactNode; dim?: boolean; whereHidden?: boolean })[];
  /** Heading of the first column. */
  beforeTitle?: string;
  label: string;
}

export function Matrix({ grants, beforeTitle, label }: MatrixProps) {
  const t = useText(texts);
  const words = useRightWords();
  const typeName = useTypeNames();
  const conditionWords = ({ where, whereHidden }: MatrixProps['grants'][number]): string => {
    if (whereHidden === true) return t.conditionHidden;
    return where === undefined || where === null ? t.always : `${t.onlyIf} ${conditionLine(where)}`;
  };
  const file = (): string[][] =>
    grants.map((grant) => [
      typeName(grant.type),
      conditionWords(grant),
      ...ACTIONS.map((action) => (grant.actions.includes(action) ? t.yes : t.no)),
      ...[grant.read, grant.write, grant.transitions].map((names) =>
        names === '*' ? t.all : names.length === 0 ? t.none : names.join(', '),
      ),
    ]);
  const actions = ACTIONS.map((action) => words.action(action));
  return (
    <>
      <Group justify="flex-end">
        <CsvButton
          name={label}
          header={[t.type, t.onlyIf, ...actions, t.readFields, t.writeFields, t.transitions]}
          rows={file}
        />
      </Group>
      <div className={classes.scroll} tabIndex={0} role="group" aria-label={label}>
        <table className={classes.matrix} aria-label={label}>
          <MatrixHead beforeTitle={beforeTitle} />
          <tbody>
            {grants.map((grant) => (
              <MatrixRow key={grant.key} grant={grant} beforeTitle={beforeTitle} conditionWords={conditionWords} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function MatrixHead({ beforeTitle }: { beforeTitle: string | undefined }) {
  const t = useText(texts);
  const words = useRightWords();
  return (
    <thead>
      <tr>
        {beforeTitle !== undefined && <th scope="col">{beforeTitle}</th>}
        <th scope="col">{t.type}</th>
        {ACTIONS.map((action) => (
          <th key={action} scope="col" className={classes.slanted}>
            <span>{words.action(action)}</span>
          </th>
        ))}
        <th scope="col">{t.readFields}</th>
        <th scope="col">{t.writeFields}</th>
        <th scope="col">{t.transitions}</th>
      </tr>
    </thead>
  );
}

interface MatrixRowProps {
  grant: MatrixProps['grants'][number];
  beforeTitle: string | undefined;
  conditionWords: ({ where, whereHidden }: MatrixProps['grants'][number]) => string;
}

function MatrixRow({ grant, beforeTitle, conditionWords }: MatrixRowProps) {
  const typeName = useTypeNames();
  const t = useText(texts);
  return (
    <tr data-dim={grant.dim || undefined}>
      {beforeTitle !== undefined && <td>{grant.before}</td>}
      <th scope="row">
        {typeName(grant.type)}
        <small>{conditionWords(grant)}</small>
      </th>
      {ACTIONS.map((action) => (
        <td key={action} className={classes.mark}>
          {grant.actions.includes(action) ? (
            <IconCheck size={15} aria-label={t.yes} className={classes.yes} />
          ) : (
            <IconMinus size={12} aria-label={t.no} className={classes.no} />
          )}
        </td>
      ))}
      <td>
        <NamesList names={grant.read} type={grant.type} />
      </td>
      <td>
        <NamesList names={grant.write} type={grant.type} />
      </td>
      <td>
        <NamesList names={grant.transitions} />
      </td>
    </tr>
  );
}
