/** The bundle's section `users`. */
import Type, { type Static } from 'typebox';
import { closed, nullable } from '../../contract/schemas.ts';
import { checkTimeZone } from '../../mechanisms/config-checks.ts';
import { defineSection } from '../../mechanisms/config-define.ts';
import { Code, LocaleCode, Login } from '../../mechanisms/config-schemas.ts';
import type { Change, ConfigView, Report, SectionReport } from '../../mechanisms/config-section.ts';
import type { ReadContext, WriteContext } from '../../mechanisms/context.ts';
import { dropOrgMember, loadUsers, setOrgMember } from './config-store.ts';
import { isEmail, nameKey } from './names.ts';
import { archived } from './rules.ts';
import { insertUser, updateUser } from './store.ts';

const Text = Type.String({ minLength: 1, maxLength: 255 });

const UserItem = closed({
  login: Login,
  displayName: Type.Optional(Text),
  email: Type.Optional(nullable(Text)),
  locale: Type.Optional(nullable(LocaleCode)),
  timezone: Type.Optional(nullable(Text)),
  orgUnit: Type.Optional(nullable(Code)),
  employeeId: Type.Optional(nullable(Text)),
  externalId: Type.Optional(nullable(Text)),
});

type Item = Static<typeof UserItem>;

/** What a user has beside login and name; absent where there is none. */
const ATTRIBUTES = ['email', 'locale', 'timezone', 'employeeId', 'externalId'] as const;
type Attribute = (typeof ATTRIBUTES)[number];

interface User extends Partial<Record<Attribute, string>> {
  login: string;
  displayName: string;
  /** Code of the organisation unit. */
  orgUnit?: string;
}

function attribute(item: Item, stored: User | undefined, name: Attribute): Partial<User> {
  const value = Object.hasOwn(item, name) ? item[name] : stored?.[name];
  return value === undefined || value === null ? {} : { [name]: value };
}

function mergeUser(item: Item, stored: User | undefined, exact: boolean): User {
  const user: User = { login: item.login, displayName: item.displayName ?? stored?.displayName ?? item.login };
  for (const name of ATTRIBUTES) Object.assign(user, attribute(item, stored, name));
  const unit = item.orgUnit ?? (exact ? undefined : stored?.orgUnit);
  return unit === undefined ? user : { ...user, orgUnit: unit };
}

function compile(user: User, _view: ConfigView, report: Report): User {
  checkTimeZone(user.timezone, ['timezone'], report);
  if (user.email !== undefined) {
    if (!isEmail(user.email)) report(['email'], 'WRONG_FORMAT', 'Use an e-mail address such as petrova@example.org.');
    else {
      try {
        nameKey(user.email);
      } catch (error) {
        report(['email'], 'WRONG_FORMAT', (error as Error).message);
      }
    }
  }
  return user;
}

/** Addresses are unique over all people, archived ones too. */
function whole(view: ConfigView, report: SectionReport): void {
  const owners = new Map<string, string>();
  const people = [...view.archived<User>('users'), ...view.active<User>('users')];
  for (const [login, { email }] of people) {
    if (email === undefined || !isEmail(email)) continue;
    const key = emailKey(email);
    const owner = owners.get(key);
    if (owner !== undefined) report(login, ['email'], 'ALREADY_EXISTS', `The user ${owner} has this e-mail address.`);
    else owners.set(key, login);
  }
}

function emailKey(email: string): string {
  try {
    return nameKey(email);
  } catch {
    return email;
  }
}

function write(ctx: WriteContext, change: Change, view: { id(section: string, code: string): string }): void {
  const user = change.definition as User;
  const row = {
    id: change.id,
    login: user.login,
    login_key: nameKey(user.login),
    display_name: user.displayName,
    email: user.email ?? null,
    email_key: user.email === undefined ? null : nameKey(user.email),
    locale: user.locale ?? null,
    timezone: user.timezone ?? null,
    employee_id: user.employeeId ?? null,
    external_id: user.externalId ?? null,
    state: change.state,
    at: ctx.now,
  };
  if (change.stored === undefined) ctx.plan(insertUser, row);
  else ctx.plan(updateUser, { ...row, expected: change.stored.version });
  if (change.action === 'archive') ctx.emit(archived(change.id, user.login));
  const before = (change.stored?.definition as User | undefined)?.orgUnit;
  if (user.orgUnit === before || change.action === 'archive') return;
  if (user.orgUnit === undefined) ctx.plan(dropOrgMember, { user_id: change.id });
  else {
    const unit = view.id('orgUnits', user.orgUnit);
    ctx.plan(setOrgMember, { id: ctx.newId(), organization_unit_id: unit, user_id: change.id, at: ctx.now });
  }
}

export const usersSection = defineSection<Item, User>({
  key: 'users',
  schema: UserItem,
  codeProperty: 'login',
  keyOf: nameKey,
  identity: true,
  right: 'user.administer',
  normalise: (item) => mergeUser(item, undefined, false),
  merge: (item, stored, { exact, spell }) => {
    const user = mergeUser(item, stored, exact);
    return user.orgUnit === undefined ? user : { ...user, orgUnit: spell('orgUnits', user.orgUnit) };
  },
  references: (user) =>
    user.orgUnit === undefined ? [] : [{ section: 'orgUnits', code: user.orgUnit, path: ['orgUnit'] }],
  compile,
  whole,
  load: async (ctx: ReadContext) => {
    const rows = await loadUsers(ctx);
    return rows.map(({ id, state, revision, ...row }) => {
      const definition: User = { login: row.login, displayName: row.displayName };
      for (const name of [...ATTRIBUTES, 'orgUnit'] as const) {
        const value = row[name];
        if (value !== null) definition[name] = value;
      }
      return { id, code: row.login, state, version: revision, definition, compiled: definition };
    });
  },
  write,
  present: (user, { active }) => {
    if (user.orgUnit === undefined || active('orgUnits', user.orgUnit)) return user;
    const { orgUnit: _archived, ...rest } = user;
    return rest;
  },
});
