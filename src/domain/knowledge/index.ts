/**
 * The knowledge base: articles with versions per locale. A version is a draft until it is published. It can be published only
 * once.
 *
 * Bases and their sections are configuration (section `knowledgeBases`).
 * Invariants:
 * - A locale of an article has at most one draft and one active version; the database enforces this.
 * - A published text is never changed.
 * - Publishing archives the previous active version.
 * - Readers see only active versions whose audience includes them; the SQL enforces this.
 * - Drafts are visible only to users with the right `kb.write`, in the administration API.
 */
export { activeArticleNames, articlesAdmit } from './store.ts';
export { readTextTask } from './text.ts';
export { articleEvent, articleEventData, articleSource } from './versions.ts';
