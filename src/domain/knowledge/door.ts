/**
 * The knowledge base: articles, each with versions per locale. A version is a draft until it is published, and published once.
 *
 * Own tables: `kb_articles`, `kb_versions`, `kb_images`. Bases and their sections are configuration (section `knowledgeBases`).
 * Invariants: a locale of an article has at most one draft and one active version, decided by the database; a published text is
 * never written again; publishing archives the version before; readers see active versions whose audience admits them, and
 * that is said in the SQL; drafts are for those who write, in the administration interface alone.
 */
export { knowledgeRoutes } from './routes.ts';
export { articleEvent, articleSource } from './sources.ts';
export { knowledgeChecks } from './store-checks.ts';
export { articleImageUse } from './store-named.ts';
export { articlesAdmit } from './store-reach.ts';
export { readTextTask } from './text.ts';
