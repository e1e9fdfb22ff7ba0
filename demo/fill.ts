/**
 * Fills the service through its API: each record, comment and transition is a call of the person who makes it, with the rights of
 * that person. All of it happens now; nothing is dated back.
 */
import { bundleOf } from './configuration.ts';
import type { Company, Demo, Entry, EntryTexts, Saying } from './content.ts';

/** Of all people of the demo, which only this machine can reach. */
export const PASSWORD = 'tea-at-five-1874';

const API = '/api/admin/v1';
const DAY = 86_400_000;

type Data = any;
type Call = (method: string, path: string, body?: unknown) => Promise<Data>;

/** Calls the API with the key. @throws Error with the answer for a refused call */
function caller(url: string, key: string): Call {
  return async (method, path, body) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${url}${API}${path}`, { method, headers, ...sent });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (JSON.parse(text) as { data: Data }).data;
  };
}

const dayFrom = (days: number): string => new Date(Date.now() + days * DAY).toISOString().slice(0, 10);

class Filling {
  readonly #demo: Demo;
  readonly #url: string;
  readonly #admin: Call;
  readonly #calls = new Map<string, Call>();
  readonly #keys: string[] = [];
  #ids: Record<'users' | 'groups' | 'relationDefinitions', Record<string, string>> = {
    users: {},
    groups: {},
    relationDefinitions: {},
  };
  /** Records by their key in the content. */
  readonly #records = new Map<string, string>();

  constructor(demo: Demo, url: string, key: string) {
    this.#demo = demo;
    this.#url = url;
    this.#admin = caller(url, key);
  }

  async run(): Promise<void> {
    await this.#people();
    await this.#dictionaries();
    const { incidents, problems, requests } = this.#demo.company;
    for (const [key, entry] of Object.entries(incidents)) await this.#incident(key, entry);
    for (const [key, entry] of Object.entries(problems)) await this.#problem(key, entry);
    await this.#requests(requests);
    for (const [from, to] of this.#demo.company.related) await this.#relate(from, 'related-to', to);
    await this.#articles();
    for (const id of this.#keys) await this.#admin('POST', `/keys/${id}/revoke`);
  }

  #as(login: string): Call {
    return this.#calls.get(login) ?? this.#admin;
  }

  #record(key: string): string {
    const id = this.#records.get(key);
    if (id === undefined) throw new Error(`the content names ${key} before it exists`);
    return id;
  }

  async #people(): Promise<void> {
    await this.#admin('POST', '/config/apply', { files: bundleOf(this.#demo) });
    for (const section of ['users', 'groups', 'relationDefinitions'] as const) {
      const items = (await this.#admin('GET', `/config/${section}`)) as { code: string; id: string }[];
      this.#ids[section] = Object.fromEntries(items.map(({ code, id }) => [code, id]));
    }
    for (const [login, id] of Object.entries(this.#ids.users)) {
      await this.#admin('POST', `/identity/users/${id}/password`, { password: PASSWORD });
      if (login === 'admin') continue;
      const body = { owner: login, name: 'demo', scopes: ['all', 'admin:manage'] };
      const { id: keyId, key } = await this.#admin('POST', '/keys', body);
      this.#keys.push(keyId);
      this.#calls.set(login, caller(this.#url, key));
    }
  }

  async #make(key: string, type: string, values: object, by = this.#admin): Promise<string> {
    const { id } = await by('POST', '/objects', { typeDefinitionId: type, values });
    this.#records.set(key, id);
    return id;
  }

  async #dictionaries(): Promise<void> {
    const { company, texts } = this.#demo;
    for (const key of company.categories) await this.#make(key, 'category', { title: texts.categories[key] });
    for (const key of company.locations) await this.#make(key, 'location', { title: texts.locations[key] });
    for (const key of company.vendors) await this.#make(key, 'vendor', { title: texts.vendors[key] });
    for (const [key, { kind, vendor }] of Object.entries(company.models)) {
      await this.#make(key, 'asset-model', { title: texts.models[key], kind, vendor: this.#record(vendor) });
    }
    for (const [index, [key, asset]] of Object.entries(company.assets).entries()) {
      const id = await this.#make(key, 'asset', {
        title: texts.assets[key],
        model: this.#record(asset.model),
        location: this.#record(asset.location),
        inventoryNumber: `PT-${1041 + index * 7}`,
        purchasedOn: dayFrom(-asset.days),
        warrantyUntil: dayFrom(1095 - asset.days),
        cost: asset.cost,
      });
      if (asset.owner !== undefined) await this.#move('admin', id, 'issue', { owner: this.#ids.users[asset.owner] });
    }
  }

  async #move(login: string, id: string, code: string, values: object = {}): Promise<void> {
    const { state, transitions, object } = await this.#as(login)('GET', `/objects/${id}/workflow`);
    const transition = transitions.find((one: { code: string }) => one.code === code);
    if (transition === undefined) throw new Error(`${login} cannot make the transition ${code} in ${state.code}`);
    const at = { transitionId: transition.id, expectedRevision: object.revision, expectedStateId: state.id };
    await this.#as(login)('POST', `/objects/${id}/transitions`, { ...at, values });
  }

  /** Fields that the service desk fills in for every report. */
  #triage(entry: Entry): object {
    const { priority, impact, urgency, group, cost } = entry;
    const affected = entry.affected?.map((one) => this.#record(one));
    const values = { priority, impact, urgency, cost, affected };
    const given = Object.entries(values).filter(([, value]) => value !== undefined);
    return { ...Object.fromEntries(given), assignmentGroup: this.#ids.groups[group] };
  }

  async #incident(key: string, entry: Entry): Promise<void> {
    const texts = this.#textsOf('incidents', key);
    const reported = {
      title: texts.title,
      description: texts.text,
      category: this.#record(entry.category),
      location: this.#record(entry.location ?? 'office'),
      requester: this.#ids.users[entry.from],
    };
    const lead = this.#as('elena');
    if (entry.source === 'portal') {
      const id = await this.#make(key, 'incident', reported, this.#as(entry.from));
      await this.#change(lead, id, this.#triage(entry));
    } else await this.#make(key, 'incident', { ...reported, source: entry.source, ...this.#triage(entry) }, lead);
    await this.#work(key, entry, texts);
  }

  async #change(by: Call, id: string, changes: object): Promise<void> {
    const { revision } = await by('GET', `/objects/${id}`);
    await by('PATCH', `/objects/${id}`, { expectedRevision: revision, changes });
  }

  #textsOf(section: 'incidents' | 'problems' | 'requests', key: string): EntryTexts {
    const texts = this.#demo.texts[section][key];
    if (texts === undefined) throw new Error(`${section}.${key} has no texts in ${this.#demo.language}`);
    return texts;
  }

  /** The work on a reported incident or request: taken, discussed, and brought to its state. */
  async #work(key: string, entry: Entry, texts: EntryTexts): Promise<void> {
    const id = this.#record(key);
    const { to = 'elena', state, from } = entry;
    const isRequest = entry.item !== undefined;
    const [done, code] = isRequest ? (['fulfilled', 'fulfil'] as const) : (['resolved', 'resolve'] as const);
    if (state === 'approval') {
      await this.#move('elena', id, 'ask-approval', { approver: this.#ids.users[entry.approver ?? ''] });
    } else if (entry.to !== undefined) await this.#move(to, id, 'take', { assignee: this.#ids.users[to] });
    for (const [index, saying] of (entry.says ?? []).entries()) await this.#say(id, saying, index, texts);
    if (state === 'pending') await this.#move(to, id, 'hold', { $reason: texts.reason });
    if (state === 'cancelled') await this.#move(to, id, 'cancel', { $reason: texts.reason });
    if (state === 'rejected') await this.#move(to, id, 'reject', { $reason: texts.reason });
    if (state === done || state === 'closed') {
      const closeCode = isRequest ? {} : { closeCode: 'solved' };
      await this.#move(to, id, code, { solution: texts.solution, ...closeCode });
    }
    if (state === 'closed') await this.#move(from, id, 'close');
    if (entry.rating !== undefined) await this.#move(from, id, 'rate', { rating: entry.rating });
  }

  async #say(id: string, { by, internal, file }: Saying, index: number, texts: EntryTexts): Promise<void> {
    const call = this.#as(by);
    const attachmentIds: string[] = [];
    if (file !== undefined) {
      const contentBase64 = Buffer.from(texts.file ?? '').toString('base64');
      const body = { filename: file, mediaType: 'text/plain', contentBase64 };
      attachmentIds.push((await call('POST', `/objects/${id}/attachments?draft=true`, body)).id);
    }
    const visibility = internal === true ? 'internal' : 'public';
    await call('POST', `/objects/${id}/comments`, { body: texts.says?.[index], visibility, attachmentIds });
  }

  async #problem(key: string, entry: Entry): Promise<void> {
    const texts = this.#textsOf('problems', key);
    const { to = 'elena', state, causes = [] } = entry;
    const id = await this.#make(
      key,
      'problem',
      {
        title: texts.title,
        description: texts.text,
        category: this.#record(entry.category),
        ...this.#triage(entry),
      },
      this.#as('elena'),
    );
    for (const incident of causes) await this.#relate(incident, 'caused-by', key);
    if (state === 'new') return;
    await this.#move(to, id, 'analyse', { assignee: this.#ids.users[to] });
    if (state === 'known-error') {
      await this.#move(to, id, 'explain', { rootCause: texts.cause, workaround: texts.workaround });
    }
    if (state === 'resolved') await this.#move(to, id, 'resolve', { solution: texts.solution });
  }

  async #relate(from: string, definition: string, to: string): Promise<void> {
    await this.#as('elena')('POST', `/objects/${this.#record(from)}/relations`, {
      definitionId: this.#ids.relationDefinitions[definition],
      targetObjectId: this.#record(to),
    });
  }

  /** Requests are made in the catalogue by those who need something. */
  async #requests(requests: Company['requests']): Promise<void> {
    for (const [key, entry] of Object.entries(requests)) {
      const call = this.#as(entry.from);
      const texts = this.#textsOf('requests', key);
      const item = itemOf(await call('GET', '/catalog'), entry.item ?? '');
      const values = {
        title: texts.title,
        description: texts.text,
        ...(entry.model === undefined ? {} : { model: this.#record(entry.model) }),
        ...(entry.needed === undefined ? {} : { neededBy: dayFrom(entry.needed) }),
      };
      const asset = entry.asset === undefined ? {} : { assetId: this.#record(entry.asset) };
      const body = { requesterId: this.#ids.users[entry.from], values, ...asset };
      const { id } = await call('POST', `/catalog/items/${item}/requests`, body);
      this.#records.set(key, id);
      await this.#change(this.#as('elena'), id, this.#triage(entry));
      await this.#work(key, entry, texts);
    }
  }

  async #articles(): Promise<void> {
    const { company, texts, language } = this.#demo;
    for (const [code, sectionId] of Object.entries(company.articles)) {
      const locale = language === 'ru' ? 'ru-RU' : 'en-US';
      const article = { baseId: 'help', sectionId, code, locale, visibility: 'portal', ...texts.articles[code] };
      const { versionId } = await this.#admin('POST', '/kb/articles', article);
      await this.#admin('PUT', `/kb/article-versions/${versionId}/audiences`, { audiences: [{ kind: 'everyone' }] });
      await this.#admin('POST', '/kb/articles/publish', { versionId });
    }
    const columns = ['number', 'title', 'priority', 'assignee', 'updatedAt'];
    const definition = { type: 'incident', state: 'in-progress', columns };
    await this.#admin('POST', '/desk/queues', { name: texts.queue, shared: true, definition });
  }
}

/** The id of an item of the catalogue. */
function itemOf(catalog: { items: { id: string; code: string }[] }, code: string): string {
  const item = catalog.items.find((one) => one.code === code);
  if (item === undefined) throw new Error(`the catalogue has no item ${code}`);
  return item.id;
}

/** @param key API key of the administrator of the starter configuration */
export async function fill(demo: Demo, url: string, key: string): Promise<void> {
  await new Filling(demo, url, key).run();
}
