/** The company of the demo, and its texts in one language. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'yaml';
import { environmentLanguage, languageOf } from '../src/cli/reader-language.ts';

export const LANGUAGES = { ru: 'ru-RU', en: 'en-US' } as const;
export type Language = keyof typeof LANGUAGES;

export interface Saying {
  by: string;
  internal?: boolean;
  file?: string;
}

export interface Entry {
  from: string;
  source?: string;
  priority: string;
  impact?: string;
  urgency?: string;
  category: string;
  location?: string;
  affected?: string[];
  group: string;
  /** Absent: nobody works on it yet. */
  to?: string;
  state: string;
  rating?: string;
  says?: Saying[];
  causes?: string[];
  item?: string;
  asset?: string;
  model?: string;
  needed?: number;
  approver?: string;
  cost?: string;
}

export interface Company {
  people: Record<string, { unit: string; role: string; groups?: string[] }>;
  units: Record<string, string | null>;
  signIn: Record<string, string>;
  categories: string[];
  locations: string[];
  vendors: string[];
  models: Record<string, { kind: string; vendor: string }>;
  assets: Record<string, { model: string; owner?: string; location: string; days: number; cost: string }>;
  incidents: Record<string, Entry>;
  problems: Record<string, Entry>;
  requests: Record<string, Entry>;
  related: [string, string][];
  articles: Record<string, string>;
  sections: string[];
}

export interface EntryTexts {
  title: string;
  text: string;
  says?: string[];
  file?: string;
  reason?: string;
  solution?: string;
  cause?: string;
  workaround?: string;
}

type Names = Record<string, string>;

export interface Texts {
  company: string;
  people: Names;
  units: Names;
  groups: Names;
  roles: Names;
  policies: Names;
  queue: string;
  categories: Names;
  locations: Names;
  vendors: Names;
  models: Names;
  assets: Names;
  incidents: Record<string, EntryTexts>;
  problems: Record<string, EntryTexts>;
  requests: Record<string, EntryTexts>;
  articles: Record<string, { title: string; summary: string; body: string }>;
}

export interface Demo {
  language: Language;
  company: Company;
  texts: Texts;
}

/** @throws Error for a language that the demo does not have */
export function chooseLanguage(wanted: string | undefined, env: Record<string, string | undefined>): Language {
  const language = wanted === undefined ? environmentLanguage(env) : languageOf(wanted);
  if (language === 'ru' || language === 'en') return language;
  if (wanted === undefined) return 'en';
  throw new Error(`the demo has no texts in ${wanted}; use --language ru or --language en.`);
}

const read = async (...name: string[]): Promise<unknown> =>
  parse(await readFile(path.join(import.meta.dirname, ...name), 'utf8'));

export async function readDemo(language: Language): Promise<Demo> {
  const company = (await read('company.yaml')) as Company;
  return { language, company, texts: (await read('content', `${language}.yaml`)) as Texts };
}
