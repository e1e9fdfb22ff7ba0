/** The demo company as a bundle: people, groups, units, roles, service levels, catalogue and knowledge base. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { type Demo, LANGUAGES } from './content.ts';

const CONFIG = path.join(import.meta.dirname, '..', 'config');
const configured = (file: string): string => readFileSync(path.join(CONFIG, file), 'utf8');

/** Around the clock and short, so that at any hour some time limits run and some are over a minute after the start. */
const POLICIES = {
  'incident-reaction': { urgent: 'PT1M', high: 'PT2M', other: 'PT4H' },
  'incident-resolution': { urgent: 'PT2H', high: 'PT8H', other: 'PT24H' },
  'request-fulfilment': { urgent: 'PT4H', high: 'PT24H', other: 'PT72H' },
};

function policies({ texts }: Demo): unknown[] {
  return Object.entries(POLICIES).map(([code, { urgent, high, other }]) => {
    const isReaction = code === 'incident-reaction';
    const open = isReaction ? ['new'] : ['new', 'in-progress'];
    const state = (operator: string, value: unknown) => ({ field: 'workflowState', operator, value });
    const when = (priority: string) => ({ field: 'priority', operator: 'equals', value: priority });
    return {
      code,
      name: texts.policies[code],
      type: code.startsWith('incident') ? 'incident' : 'request',
      calendar: 'always',
      targets: [{ when: when('p1'), duration: urgent }, { when: when('p2'), duration: high }, { duration: other }],
      start: state('in', open),
      ...(isReaction ? {} : { pause: { field: 'workflowCategory', operator: 'equals', value: 'waiting' } }),
      stop: isReaction ? state('not-equals', 'new') : { field: 'workflowCategory', operator: 'equals', value: 'done' },
      warnAt: [75],
    };
  });
}

/** The roles of the starter, given to people. */
function roles({ company }: Demo): unknown[] {
  const given = (role: string): string[] =>
    Object.keys(company.people).filter((one) => company.people[one]?.role === role);
  const starter = parse(configured('itsm/50-roles.yaml'), { maxAliasCount: -1 }) as { roles: { code: string }[] };
  return starter.roles
    .filter(({ code }) => given(code).length > 0)
    .map((role) => ({ ...role, assignedTo: { users: given(role.code) } }));
}

export function bundleOf(demo: Demo): { name: string; text: string }[] {
  const { company, texts, language } = demo;
  const locale = LANGUAGES[language];
  const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const bundle = {
    settings: { defaultLocale: locale, timezone },
    users: Object.entries({ ...company.people, admin: { unit: 'it' } }).map(([login, { unit }]) => ({
      login,
      displayName: texts.people[login],
      email: `${login}@example.org`,
      orgUnit: unit,
      locale,
      timezone,
    })),
    orgUnits: Object.entries(company.units).map(([code, parent]) => ({
      code,
      name: texts.units[code],
      ...(parent === null ? {} : { parent }),
    })),
    groups: Object.entries(texts.groups).map(([code, name]) => ({
      code,
      name,
      users: Object.keys(company.people).filter((login) => company.people[login]?.groups?.includes(code)),
    })),
    roles: roles(demo),
    slaPolicies: policies(demo),
    knowledgeBases: [
      {
        code: 'help',
        name: language === 'ru' ? 'Справка' : 'Help',
        visibility: 'portal',
        locales: [locale],
        sections: company.sections.map((code) => ({ code, name: texts.categories[code] })),
      },
    ],
  };
  return [
    { name: 'company.yaml', text: stringify(bundle, { aliasDuplicateObjects: false }) },
    { name: 'catalogue.yaml', text: configured('catalogue/catalogue.yaml') },
  ];
}
