/**
 * SQL that makes the words of a record or a comment for the baseline server. For the texts of `corpus.ts` it makes as many
 * lexemes as the service does, which has its own rules for words.
 */

/** @param weight the letter that the service gives to words of this field */
const part = (text: string, weight: string): string =>
  `setweight(to_tsvector('simple', coalesce(${text}::text, '')), '${weight}')`;

/** The words of a record: title, description, tags and number, each an SQL expression for its text. */
export const recordWords = (title: string, description: string, tags: string, number: string): string =>
  [part(title, 'A'), part(number, 'A'), part(tags, 'B'), part(description, 'C')].join(' || ');

/** The words of a comment. @param body SQL expression for its text */
export const commentWords = (body: string): string => part(body, 'C');
