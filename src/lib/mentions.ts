/** Mentions of users in comments: `@login`. Server and console find them by the same pattern. */

/** A login after `@`, at the beginning of a word: an e-mail address is no mention. Its one group holds the login with the `@`. */
export const MENTION = /(?<![\p{L}\p{N}._%+@-])(@[\p{L}\p{N}](?:[\p{L}\p{N}._-]*[\p{L}\p{N}_])?)/gu;

/** The logins that the text mentions, without the `@` and without repetition. */
export function mentionedLogins(text: string): string[] {
  return [...new Set([...text.matchAll(MENTION)].map(([, mention = '']) => mention.slice(1)))];
}
