/** The bundle's section `users`. */
import type { ItemState } from '../../contract/state.ts';
import Type, { type Static } from 'typebox';
import { closed, described, LocaleCode, Login, nullable, optional } from '../../contract/schemas.ts';
import { problem, ProblemError } from '../../lib/problem.ts';
import { nfc } from '../../lib/text.ts';
import { checkTimeZone } from '../../configuration/checks.ts';
import { defineSection } from '../../configuration/define.ts';
import { CodeOf } from '../../configuration/schemas.ts';
import type { Change, ConfigView, Report, SectionReport } from '../../configuration/section.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { place, type UserState, writeUser } from './changes.ts';
import { loadUsers } from './store-members.ts';
import { nameKey, checkLines } from './rules.ts';
import { isEmail } from '../../lib/data-types/index.ts';

const Text = Type.String({ minLength: 1, maxLength: 255 });

const UserItem = closed({
  login: described(
    'Name with which the user signs in, and by which the configuration names them. Unique without regard to case.',
    Login,
  ),
  displayName: optional('Name of the user that others see. Default: the stored one, else the login.', Text),
  email: optional(
    'Address for notifications; mail from it acts as this user. Unique without regard to case. Null removes it.',
    nullable(Text),
  ),
  locale: optional(
    'Language of the console and of mails to the user, such as ru-RU. Null removes it.',
    nullable(LocaleCode),
  ),
  timezone: optional(
    'IANA time zone in which the user sees and enters times, such as Europe/Moscow. Null removes it: that of the service is used.',
    nullable(Text),
  ),
  orgUnit: optional(
    'Code of the organisation unit of the user. Absent: it stays as stored, except with --prune-identity.',
    nullable(CodeOf('orgUnits')),
  ),
  employeeId: optional(
    'Number of the user in the personnel system, for information. It need not be unique. Null removes it.',
    nullable(Text),
  ),
  externalId: optional(
    'Unique id of the user at the identity provider: for single sign-on the claim `sub`. Null removes it.',
    nullable(Text),
  ),
});

type Item = Static<typeof UserItem>;

/** Optional properties of a user. */
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
  return value === undefined || value === null ? {} : { [name]: nfc(value) };
}

function mergeUser(item: Item, stored: User | undefined, exact: boolean): User {
  const user: User = { login: item.login, displayName: nfc(item.displayName ?? stored?.displayName ?? item.login) };
  for (const name of ATTRIBUTES) Object.assign(user, attribute(item, stored, name));
  const unit = item.orgUnit ?? (exact ? undefined : stored?.orgUnit);
  return unit === undefined ? user : { ...user, orgUnit: unit };
}

function compile(user: User, _view: ConfigView, report: Report): User {
  checkLines({ displayName: user.displayName, employeeId: user.employeeId, externalId: user.externalId }, report);
  checkTimeZone(user.timezone, ['timezone'], report);
  if (user.email !== undefined) {
    if (!isEmail(user.email)) report(['email'], problem('NOT_AN_EMAIL', { example: 'petrova@example.org' }));
    else {
      try {
        nameKey(user.email);
      } catch (error) {
        if (!(error instanceof ProblemError)) throw error;
        report(['email'], error.problem);
      }
    }
  }
  return user;
}

/** E-mail addresses and external ids are unique among all users, including archived ones. */
function validateAll(view: ConfigView, report: SectionReport): void {
  const emails = new Map<string, string>();
  const externalIds = new Map<string, string>();
  const people = [...view.archived<User>('users'), ...view.active<User>('users')];
  for (const [login, { email, externalId }] of people) {
    if (email !== undefined && isEmail(email)) {
      const owner = claim(emails, emailKey(email), login);
      if (owner !== undefined) report(login, ['email'], problem('EMAIL_TAKEN', { login: owner }));
    }
    if (externalId === undefined) continue;
    const owner = claim(externalIds, externalId, login);
    if (owner !== undefined) report(login, ['externalId'], problem('EXTERNAL_ID_TAKEN', { login: owner }));
  }
}

/** Returns the login that has the name already. Otherwise assigns the name to `login` and returns undefined. */
function claim(owners: Map<string, string>, name: string, login: string): string | undefined {
  const owner = owners.get(name);
  if (owner === undefined) owners.set(name, login);
  return owner;
}

function emailKey(email: string): string {
  try {
    return nameKey(email);
  } catch {
    return email;
  }
}

function stateOf(id: string, user: User, { state, version }: { state: ItemState; version: number }): UserState {
  const {
    login,
    displayName,
    email = null,
    locale = null,
    timezone = null,
    employeeId = null,
    externalId = null,
  } = user;
  return { id, login, displayName, email, locale, timezone, employeeId, externalId, state, revision: version };
}

function write(ctx: WriteContext, change: Change, view: { id(section: string, code: string): string }): void {
  const { id, stored, state } = change;
  const user = change.definition as User;
  const former = stored?.definition as User | undefined;
  const before = stored === undefined || former === undefined ? undefined : stateOf(id, former, stored);
  writeUser(ctx, before, stateOf(id, user, { state, version: (stored?.version ?? 0) + 1 }));
  if (user.orgUnit === former?.orgUnit || change.action === 'archive') return;
  const unit = (code: string | undefined): string | null => (code === undefined ? null : view.id('orgUnits', code));
  place(ctx, { userId: id, from: unit(former?.orgUnit), to: unit(user.orgUnit) });
}

export const usersSection = defineSection<Item, User>({
  key: 'users',
  summary: 'Users, identified by their login.',
  schema: UserItem,
  codeProperty: 'login',
  keyOf: nameKey,
  identity: true,
  right: 'user.administer',
  normalise: (item) => mergeUser(item, undefined, false),
  merge: (item, stored, { exact, canonicalCode }) => {
    const user = mergeUser(item, stored, exact);
    return user.orgUnit === undefined ? user : { ...user, orgUnit: canonicalCode('orgUnits', user.orgUnit) };
  },
  compile,
  validateAll,
  load: async (ctx: ReadContext) => {
    const rows = await loadUsers(ctx);
    return rows.map(({ id, state, revision, updatedAt, updatedBy, ...row }) => {
      const definition: User = { login: row.login, displayName: row.displayName };
      for (const name of [...ATTRIBUTES, 'orgUnit'] as const) {
        const value = row[name];
        if (value !== null) definition[name] = value;
      }
      const version = revision;
      return { id, code: row.login, state, version, definition, compiled: definition, updatedAt, updatedBy };
    });
  },
  write,
  toBundleItem: (user, { active }) => {
    if (user.orgUnit === undefined || active('orgUnits', user.orgUnit)) return user;
    const { orgUnit: _archived, ...rest } = user;
    return rest;
  },
});
