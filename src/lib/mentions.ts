/** Mentions of users in comments: `@login`. Server and console find them by the same pattern. */

/** A login after `@`, at the beginning of a word: an e-mail address is no mention. Its one group holds the login with the `@`. */
export const MENTION = /(?<![\p{L}\p{N}._%+@-])(@[\p{L}\p{N}](?:[\p{L}\p{N}._-]*[\p{L}\p{N}_])?)/gu;

/** Maximum number of users whom a text mentions. More would be a way to write to everybody. */
export const MAX_MENTIONS = 200;

/** The first logins that the text mentions, without the `@` and without repetition. */
export function mentionedLogins(text: string): string[] {
  const found = new Set<string>();
  for (const [, mention = ''] of text.matchAll(MENTION)) {
    found.add(mention.slice(1));
    if (found.size === MAX_MENTIONS) break;
  }
  return [...found];
}
