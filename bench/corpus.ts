/** The words of the measured records, the same in every run: a pool of titles and texts, Russian and English mixed. */
import { fold } from '../src/lib/text.ts';

export interface Sample {
  title: string;
  foldedTitle: string;
  description: string;
  foldedDescription: string;
}

/** Number of titles and texts. Records use them in rotation; a number makes each title unique. */
export const SAMPLES = 1000;

const WORDS = (
  'printer network access denied slow login mailbox full screen flickers after update server disk cannot open the file ' +
  'please check request for new laptop broken monitor cable door card reader report does not load error code timeout ' +
  'принтер сеть доступ запрещён медленно вход почта переполнена экран мигает после обновления сервер диск не открывается ' +
  'файл прошу проверить заявка на новый ноутбук сломан монитор кабель дверь карта считыватель отчёт не загружается ошибка'
).split(' ');

/** A repeatable stream of numbers from 0 up to 1; the quality of the dice matters little here, that they repeat does. */
export function dice(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function words(next: () => number, count: number): string {
  return Array.from({ length: count }, () => WORDS[Math.floor(next() * WORDS.length)]).join(' ');
}

/** The pool. Texts are about 300 characters long. */
export function samples(): Sample[] {
  const next = dice(20_261_121);
  return Array.from({ length: SAMPLES }, () => {
    const title = words(next, 4 + Math.floor(next() * 4));
    const description = words(next, 30 + Math.floor(next() * 30));
    return { title, foldedTitle: fold(title), description, foldedDescription: fold(description) };
  });
}

export const PRIORITIES = ['p1', 'p2', 'p3', 'p4'] as const;
/** The role's row condition admits the first three: three records of four. */
export const AREAS = ['north', 'south', 'east', 'west'] as const;
export const VISIBLE_AREAS: readonly string[] = AREAS.slice(0, 3);
export const TAGS = ['vip', 'hardware', 'software', 'recurring', 'remote'] as const;
