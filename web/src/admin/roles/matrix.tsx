/** Grants as a matrix: a row for each, a column for each action, and what of its fields is read and changed. */
import { IconCheck, IconMinus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useHas } from '../../app/session.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { sectionQuery } from '../config/queries.ts';
import { nameIn } from '../config/yaml-text.ts';
import classes from './roles.module.css';
import { ACTIONS, conditionLine, type Grant, type Names, useRightWords } from './model.ts';
import { texts } from './texts.ts';

/** Names of types by code, as far as one may know them. */
export function useTypeNames(): (code: string) => string {
  const t = useText(texts);
  const language = useLanguage();
  const has = useHas();
  const types = useQuery({ ...sectionQuery('types'), enabled: has('config.manage') });
  const byCode = new Map(types.data?.map((type) => [type.code, nameIn(type.name, language)]));
  return (code) => (code === '*' ? t.allTypes : (byCode.get(code) ?? code));
}

export function NamesList({ names }: { names: Names }) {
  const t = useText(texts);
  if (names === '*') return <span className={classes.all}>{t.all}</span>;
  if (names.length === 0) return <span className={classes.nothing}>{t.none}</span>;
  return <span className={classes.names}>{names.join(', ')}</span>;
}

interface MatrixProps {
  grants: readonly (Grant & { key: string; before?: ReactNode; dim?: boolean; whereHidden?: boolean })[];
  /** Heading of what stands before each row. */
  beforeTitle?: string;
  label: string;
}

export function Matrix({ grants, beforeTitle, label }: MatrixProps) {
  const t = useText(texts);
  const words = useRightWords();
  const typeName = useTypeNames();
  return (
    <div className={classes.scroll} tabIndex={0} role="group" aria-label={label}>
      <table className={classes.matrix} aria-label={label}>
        <thead>
          <tr>
            {beforeTitle !== undefined && <th scope="col">{beforeTitle}</th>}
            <th scope="col">{t.type}</th>
            {ACTIONS.map((action) => (
              <th key={action} scope="col" className={classes.slanted}>
                <span>{words.action(action)}</span>
              </th>
            ))}
            <th scope="col">{t.read}</th>
            <th scope="col">{t.write}</th>
            <th scope="col">{t.transitions}</th>
          </tr>
        </thead>
        <tbody>
          {grants.map((grant) => (
            <tr key={grant.key} data-dim={grant.dim || undefined}>
              {beforeTitle !== undefined && <td>{grant.before}</td>}
              <th scope="row">
                {typeName(grant.type)}
                <small>
                  {grant.whereHidden === true
                    ? t.conditionHidden
                    : grant.where === undefined || grant.where === null
                      ? t.always
                      : `${t.onlyIf} ${conditionLine(grant.where)}`}
                </small>
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
                <NamesList names={grant.read} />
              </td>
              <td>
                <NamesList names={grant.write} />
              </td>
              <td>
                <NamesList names={grant.transitions} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
