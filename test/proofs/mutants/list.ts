/**
 * Mutants: removed guards, one at a time, and the tests that must fail. Each is a text that occurs exactly once in its file,
 * and its replacement.
 */

export interface Mutant {
  file: string;
  find: string;
  replace: string;
  /** Test files of which at least one must fail. */
  killedBy: readonly string[];
}

const of =
  (file: string, killedBy: string) =>
  (find: string, replace: string, other?: string): Mutant => ({ file, find, replace, killedBy: [other ?? killedBy] });

const OBJECTS_STORE = of('src/domain/objects/store.ts', 'test/races.db.test.ts');
const PAGES = of('src/domain/objects/page-text.ts', 'src/domain/objects/page-text.db.test.ts');
const AUTHENTICATE = of('src/domain/access/authenticate.ts', 'test/access.db.test.ts');
const ACTOR = of('src/domain/access/actor.ts', 'test/rights.db.test.ts');
const KEYS = of('src/domain/access/keys.ts', 'test/keys.db.test.ts');
const OBJECTS = of('src/domain/objects/commands.ts', 'test/rights.db.test.ts');
const OBJECT_RULES = of('src/domain/objects/rules.ts', 'test/access.db.test.ts');
const COMMENTS = of('src/domain/comments/commands.ts', 'src/domain/comments/comments.db.test.ts');
const COMMENT_READS = of('src/domain/comments/queries.ts', 'src/domain/comments/comments.db.test.ts');
const COMMENT_STORE = of('src/domain/comments/store.ts', 'src/domain/comments/comments.db.test.ts');
const FILES = of('src/domain/attachments/commands.ts', 'src/domain/attachments/attachments.db.test.ts');
const FILE_STORE = of('src/domain/attachments/store.ts', 'src/domain/attachments/attachments.db.test.ts');
const FILE_READS = of('src/domain/attachments/queries.ts', 'src/domain/attachments/attachments.db.test.ts');
const FILE_RULES = of('src/domain/attachments/rules.ts', 'src/domain/attachments/rules.test.ts');
const RELATIONS = of('src/domain/relations/commands.ts', 'src/domain/relations/relations.db.test.ts');
const RELATION_ENDS = of('src/domain/relations/definitions.ts', 'src/domain/relations/relations.db.test.ts');
const RELATION_STORE = of('src/domain/relations/store.ts', 'src/domain/relations/relations.db.test.ts');
const WORKFLOW = of('src/domain/workflow/commands.ts', 'src/domain/workflow/workflow.db.test.ts');
const SLA = of('src/domain/sla/commands.ts', 'src/domain/sla/commands.db.test.ts');
const KNOWLEDGE = of('src/domain/knowledge/commands.ts', 'src/domain/knowledge/knowledge.db.test.ts');
const KNOWLEDGE_RULES = of('src/domain/knowledge/rules.ts', 'src/domain/knowledge/knowledge.db.test.ts');
const CATALOG = of('src/domain/catalog/commands.ts', 'src/domain/catalog/requests.db.test.ts');
const EXPORTS = of('src/domain/exports/queries.ts', 'src/domain/exports/exports.db.test.ts');
const IMPORT_RUN = of('src/domain/imports/run.ts', 'src/domain/imports/imports.db.test.ts');
const IMPORT_ROWS = of('src/domain/imports/store.ts', 'src/domain/imports/dry-run.db.test.ts');
const UNDO = of('src/domain/imports/undo.ts', 'src/domain/imports/dry-run.db.test.ts');
const ESCALATION = of('src/domain/identity/escalation.ts', 'test/identity-escalation.db.test.ts');
const HANDED = of('src/domain/identity/escalation-rules.ts', 'test/identity-escalation.db.test.ts');
const PLAIN = 'src/domain/identity/plain.db.test.ts';
const PLAIN_RACES = 'test/plain-memberships.db.test.ts';
const FLUSH = of('src/platform/unit-of-work/flush.ts', PLAIN_RACES);
const ACCESS_FOLLOW = of('src/domain/access/follow.ts', 'test/last-administrator.db.test.ts');
const BUNDLE_RIGHTS = of('src/configuration/rights.ts', 'test/bundle-rights.db.test.ts');
const HOOK_RULES = of('src/domain/webhooks/rules.ts', 'src/domain/webhooks/rules.test.ts');
const DISPATCH = of('src/domain/webhooks/store-dispatch.ts', 'src/domain/webhooks/periods.db.test.ts');
const CONSUMERS = of('src/platform/journal/consumers.ts', 'src/platform/journal/consumers.db.test.ts');
const ORDER = of('src/platform/journal/positions.ts', 'src/platform/journal/consumers.db.test.ts');
const QUEUE = of('src/platform/jobs/queue.ts', 'src/domain/webhooks/delivery-races.db.test.ts');
const PAYLOAD = of('src/domain/webhooks/payload.ts', 'src/domain/webhooks/delivery-rights.db.test.ts');
const ADDRESS = of('src/platform/outbound/address.ts', 'src/platform/outbound/outbound.test.ts');
const IDEMPOTENCY = of('src/platform/unit-of-work/idempotency.ts', 'test/idempotency.db.test.ts');
const HEADERS = of('src/http/headers.ts', 'src/http/input.test.ts');
const VALIDATE = of('src/http/validate.ts', 'src/http/input.test.ts');
const BODY = of('src/http/body.ts', 'src/http/limits.slow.test.ts');
const JSON_TEXT = of('src/lib/json.ts', 'src/lib/json.test.ts');
const CSV = of('src/lib/csv.ts', 'src/lib/csv.test.ts');
const GROUPS = of('src/platform/unit-of-work/groups.ts', 'src/platform/unit-of-work/batching.db.test.ts');
const MAIL_DECISION = of('src/domain/mail/decision.ts', 'src/domain/mail/decision.test.ts');
const RULES = of('src/domain/rules/rules.ts', 'src/domain/rules/rules.test.ts');
const RULE_READS = of('src/domain/rules/queries.ts', 'src/domain/rules/hidden.db.test.ts');
const NOTIFIED = 'src/domain/notifications/notifications.db.test.ts';
const NOTIFIED_HIDDEN = 'src/domain/notifications/hidden.db.test.ts';
const AUDIENCE = of('src/domain/notifications/audience.ts', NOTIFIED_HIDDEN);
const NOTIFIED_EFFECTS = of('src/domain/notifications/effects.ts', NOTIFIED);
const NOTIFIED_STORE = of('src/domain/notifications/store.ts', NOTIFIED);

export const MUTANTS: readonly Mutant[] = [
  // Revisions and locks.
  OBJECTS_STORE(
    '    WHERE o.revision = r.expected ORDER BY o.id FOR SHARE OF o`',
    '    ORDER BY o.id`',
    'src/domain/relations/relations.db.test.ts',
  ),
  OBJECTS_STORE(
    "    WHERE o.state = 'ACTIVE' ORDER BY o.id FOR SHARE OF o`",
    '    ORDER BY o.id`',
    'src/domain/comments/comments.db.test.ts',
  ),
  COMMENT_STORE("    next: 'revision',\n", ''),
  COMMENT_STORE('AND c.visibility = ANY(${[...seen]}::text[])', ''),
  COMMENTS('if (row.revision !== expectedRevision) {', 'if (row.revision < expectedRevision) {'),
  COMMENTS('  if (isArchived(row)) throw', "  if (row.objectId === '') throw"),
  COMMENTS('{ visibility = DEFAULT_VISIBILITY,', "{ visibility = 'public',"),
  COMMENTS('  requireVisibility(object, visibility);', ''),
  COMMENTS('  if (becomes !== undefined) requireVisibility(object, becomes);', ''),
  COMMENTS("const object = requireAction(visible, 'comment.edit');", 'const object = visible as never;'),
  COMMENT_READS(
    '  if (object === undefined || !canSeeComment(object, row.visibility)) throw missing;',
    '  if (object === undefined) throw missing;',
  ),
  COMMENT_READS('seenVisibilities(object.right.can), page', 'COMMENT_VISIBILITIES, page'),
  COMMENT_READS(
    'if (about.length === 0 || seen.length === COMMENT_VISIBILITIES.length) return',
    'if (about.length >= 0) return',
  ),
  FILES("const object = requireAction(visible, 'attachment.delete');", 'const object = visible as never;'),
  FILES('if (row.revision === expected) return;', 'if (row.revision <= expected) return;'),
  FILES('input.bodyObjectId !== undefined && input.bodyObjectId !== input.objectId', 'input.bodyObjectId === null'),
  FILE_READS('    await work.read(await freshCaller(caller), (ctx) => requireServed(ctx, id));\n', ''),
  FILE_STORE("a.id = ${id}::uuid AND a.state = 'ACTIVE' AND ${visible}", 'a.id = ${id}::uuid AND ${visible}'),
  FILE_STORE(
    "a.id = ${id}::uuid AND a.state = 'ACTIVE' AND ${visible}\n",
    "a.id = ${id}::uuid AND a.state = 'ACTIVE'\n",
  ),
  FILE_READS('row === undefined || object === undefined', 'row === undefined'),
  FILE_RULES("SAFE_TYPES.has(file.mediaType) ? file.mediaType : 'application/octet-stream'", 'file.mediaType'),
  FILE_RULES('if (/[^A-Za-z0-9+/=]/.test(text)) throw', 'if (text === undefined) throw'),
  FILE_RULES('if (bytes.byteLength > mostBytes) throw', 'if (bytes.byteLength > 2 * mostBytes) throw'),
  FILE_RULES(".replace(/[\"\\\\%;]/g, '_')", ''),
  RELATIONS("const source = requireAction(visible, 'relation.delete');", 'const source = visible as never;'),
  RELATIONS('if (row.revision !== input.expectedRevision) {', 'if (row.revision > input.expectedRevision) {'),
  RELATIONS('  if (definition.acyclic) await ctx.lock(cycleLock(definition.id));\n', ''),
  RELATIONS('  if (definition.acyclic && (await reaches', '  if (definition.active !== true && (await reaches'),
  RELATION_ENDS(
    "source: cardinality === 'one-to-one' || cardinality === 'many-to-one'",
    "source: cardinality === 'one-to-one'",
  ),
  RELATIONS('  ctx.plan(holdRevision, { id: source.row.id, expected: source.row.revision });\n', ''),
  RELATIONS(
    'if (target === undefined || !definition.targetTypes.includes(target.type.code))',
    'if (target === undefined)',
  ),
  RELATION_STORE("    next: 'revision',\n    also", "    set: ['revision'],\n    also"),
  RELATION_STORE("    where: sql`t.state = 'ACTIVE'`,\n", ''),
  // Keys, sessions, rights.
  PAGES(
    'if (codes.has(code) && hidden?.includes(code) !== true) return undefined;',
    'if (code === null) return undefined;',
  ),
  PAGES('hidden.some((code) => access.canRead(code)) ? undefined : hidden', 'hidden'),
  OBJECTS_STORE(
    'const only = hidden === null ? empty',
    'const only = hidden !== undefined ? empty',
    'src/domain/objects/page-text.db.test.ts',
  ),
  AUTHENTICATE(
    'if (found === undefined || !isActive(found.user)) throw unauthenticated();\n    this.#used',
    'if (found === undefined) throw unauthenticated();\n    this.#used',
  ),
  AUTHENTICATE('      row.revokedAt === null &&\n', ''),
  AUTHENTICATE('(row.expiresAt === null || Date.parse(row.expiresAt) > now) &&', ''),
  AUTHENTICATE(
    '(row.allow.length === 0 || row.allow.some((range) => within(given.ip, range)))',
    'row.allow.length >= 0',
  ),
  AUTHENTICATE('(current || overlaps) &&', '(current || previous || overlaps || row !== null) &&'),
  AUTHENTICATE(
    'if (given.csrfToken === undefined || !timingSafeEqual(csrf, session.csrfHash)) {',
    'if (given.csrfToken === null) {',
  ),
  AUTHENTICATE(
    "given.surface === 'console' && !row.scopes.includes(ADMIN_SCOPE)",
    "given.surface === 'console' && row.scopes.includes('never')",
  ),
  ACTOR(
    '    return compileCondition(condition, environment);',
    '    return environment === undefined ? sql`true` : null;',
  ),
  ACTOR('const admits = grant.where === null || evaluate(', 'const admits = grant.where !== undefined || evaluate('),
  ACTOR('if (!this.has(right)) throw rightMissing(right);', 'if (this.has(right)) return;', 'test/access.db.test.ts'),
  KEYS("  if (owner?.id !== ctx.actor.userId) ctx.actor.require('role.assign');", ''),
  KEYS("if (row === undefined || !(own || ctx.actor.has('role.assign'))) {", 'if (row === undefined) {'),
  KEYS("const own = ctx.actor.has('role.assign') ? null : ctx.actor.userId;", 'const own = null;'),
  KEYS("  if (row.revokedAt !== null) throw new Fault('ARCHIVED'", "  if (row === null) throw new Fault('ARCHIVED'"),
  ESCALATION(
    "if (ctx.actor.userId !== userId || ctx.actor.has('role.assign')) return;",
    'if (ctx.actor.userId === userId) return;',
  ),
  ESCALATION('  ctx.verify(escalationCheck);\n', ''),
  HANDED('if (!fresh.every((id) => this.#holdsAll(rolesAt.get(id) ?? []))) {', 'if (fresh.length === 0) {'),
  HANDED(
    "if (this.#depends(roles, '$myGroups') || (await this.#someDepend(subjects, '$myGroups'))) {",
    'if (roles.length < 0) {',
  ),
  HANDED("|| (await this.#someDepend(subjects, '$myGroups'))", ''),
  HANDED('if (!has) throw escalation(', 'if (has === undefined) throw beyond('),
  HANDED('if (configured || (await', 'if (configured && (await'),
  HANDED('return !heldRoles.some(depends) && ', 'return ', PLAIN),
  HANDED(' && !around.some((id) => named.has(id))', '', PLAIN),
  HANDED(' || inArticles) return false;', ') return false;', PLAIN),
  ESCALATION('  if (facts.givesRole === true) return undefined;\n', '', PLAIN_RACES),
  ESCALATION('    await requireSame(ctx, caller);\n', '', PLAIN_RACES),
  ESCALATION(
    "  if (!ctx.actor.has('role.assign') && !grantsNothing(ctx.config, facts, variables)) return undefined;\n",
    '',
    PLAIN_RACES,
  ),
  FLUSH(' WHERE rights - memberships = ${structure}::bigint RETURNING 1`', ' RETURNING 1`'),
  ACCESS_FOLLOW(
    'if (ctx.invalidated.size > 0 && !events.every(({ type }) => HARMLESS.has(type))) ctx.verify(invariant);',
    '',
  ),
  BUNDLE_RIGHTS('    if (!same) requireRight(ctx, section);\n', ''),
  BUNDLE_RIGHTS('bundle.sections.has(section.key))) requireRight', "bundle.sections.has('')) ) requireRight"),
  OBJECTS("  if (!object.right.can('create')) throw createMissing();", ''),
  OBJECTS(
    "  requireWritable(object.right, input.whole === true ? given.filter((code) => !idle(code)) : given, 'values');",
    '',
  ),
  OBJECTS(
    "requireGranted(ctx, input.objectId, 'update')",
    "requireGranted(ctx, input.objectId, 'read')",
    'test/access.db.test.ts',
  ),
  OBJECT_RULES(
    'if (field === undefined || !canName(access, code)) {',
    'if (field === undefined) {',
    'test/values.db.test.ts',
  ),
  OBJECT_RULES(
    'const refused = codes.filter((code) => !right.canWrite(code));',
    'const refused = codes.filter((code) => !right.canWrite(code) && !right.canRead(code));',
    'test/rights.db.test.ts',
  ),
  WORKFLOW('if (transition !== undefined && !holds(object, transition)) throw notHeld(transition);', ''),
  WORKFLOW('if (input.expectedStateId !== object.row.workflowStateId) {', "if (input.expectedStateId === '') {"),
  WORKFLOW('  if (!conditionHolds(ctx, object, transition)) throw notMet(object, transition);', ''),
  WORKFLOW("if (!inForm.has(code)) form.problems.push(problemAt(path, 'NO_FIELD_OF_TRANSITION'));\n    else if", 'if'),
  WORKFLOW("field.kind === 'system' || object.right.canRead(field.code)", 'field.code !== object.row.id'),
  SLA("  ctx.actor.require('sla.control');", '', 'test/access.db.test.ts'),
  SLA(
    'expectedRevision !== undefined && expectedRevision !== instance.revision',
    'expectedRevision !== undefined && expectedRevision > instance.revision',
  ),
  SLA('if (!FROM[command].includes(instance.status)) {', 'if (FROM[command].length === 0) {'),
  CATALOG("ctx.actor.require('catalog.impersonate');", ';'),
  CATALOG('const onBehalf = contextOnBehalfOf(ctx, requester);', 'const onBehalf = ctx;'),
  KNOWLEDGE("  ctx.actor.require('kb.publish');", "  ctx.actor.require('kb.write');"),
  KNOWLEDGE_RULES("if (version.state === 'DRAFT') return;", "if (version.state !== '') return;"),
  KNOWLEDGE_RULES('if (version.audiences.length > 0) return;', 'if (version.audiences.length >= 0) return;'),
  KNOWLEDGE_RULES(
    'if (timingSafeEqual(hash(expected), hash(given))) return;',
    'if (hash(expected).length === hash(given).length) return;',
    'src/domain/knowledge/administration.db.test.ts',
  ),
  EXPORTS('field.search.filter && actor.fieldAccess(type.id).canRead(code)', 'field.search.filter'),
  EXPORTS('filter(({ code }) => access.canRead(code))', 'filter(({ code }) => code.length > 0)'),
  EXPORTS("  caller.actor.require('export.execute');\n", ''),
  // Deliveries.
  HOOK_RULES("if (endpoint.includes('@')) return", "if (endpoint.includes('@@')) return"),
  HOOK_RULES("if (endpoint.includes('?') || endpoint.includes('#')) return", "if (endpoint.includes('#')) return"),
  HOOK_RULES('`${timestamp}.${deliveryId}.`', '`${deliveryId}.${timestamp}.`'),
  HOOK_RULES('attempt >= delivery.maxAttempts', 'attempt > delivery.maxAttempts'),
  HOOK_RULES('status === 429 || status >= 500', 'status >= 400'),
  QUEUE(' AND d.${raw(claim)}::text = r.${raw(claim)}', ''),
  QUEUE(' FOR UPDATE SKIP LOCKED', ''),
  CONSUMERS('FOR UPDATE OF c SKIP LOCKED', 'FOR UPDATE OF c'),
  CONSUMERS('if (!(await isBehind(db, name))) return false;\n', ''),
  CONSUMERS('SET place = ${batch.upTo}::bigint WHERE', 'SET place = ${batch.upTo - 1}::bigint WHERE'),
  ORDER('j.txid = ANY(ARRAY(SELECT pg_snapshot_xip(${seen})))', 'false'),
  DISPATCH('AND j.seq > p.from_seq', ''),
  DISPATCH('(p.until_seq IS NULL OR j.seq <= p.until_seq)', 'true'),
  DISPATCH("(p.types = '{}' OR ", '(true OR '),
  DISPATCH('pg_advisory_xact_lock_shared(${PERIOD_LOCK}::bigint)', '${PERIOD_LOCK}::bigint'),
  PAYLOAD(
    '      if ((await filter(ctx, object, [row])).has(event.id)) return OUT_OF_SIGHT;',
    '      await filter(ctx, object, [row]);',
  ),
  PAYLOAD('own(code) !== undefined && object.right.canRead(code)', 'own(code) !== undefined'),
  ADDRESS(
    "if (address.range() !== 'unicast' || HOST_SERVICES.has(address.toString())) return false;",
    "if (address.range() === 'loopback') return false;",
  ),
  ADDRESS('addresses.every(isPublicAddress)', 'addresses.some(isPublicAddress)'),
  ADDRESS('if (isOwn && !this.#options.allowPrivate) throw', 'if (isOwn && this.#options.connectMs < 0) throw'),
  // Input validation.
  IDEMPOTENCY(
    'WHERE i.caller_id = ${callerId} AND i.route = ${route} AND i.key',
    'WHERE i.caller_id = ${callerId} AND i.key',
  ),
  IDEMPOTENCY('if (!row.fingerprint.equals(claim.fingerprint)) {', 'if (row.fingerprint.length === 0) {'),
  HEADERS(
    "if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {",
    "if (encoding === 'never') {",
  ),
  HEADERS('if (type === undefined || !JSON_TYPE.test(type)) {', 'if (type === undefined) {'),
  HEADERS('  if (expectedRevision !== revision) {', '  if (expectedRevision === null) {'),
  VALIDATE('    if (seen.has(name)) {', "    if (seen.has('')) {"),
  VALIDATE("value === undefined || value.includes('\\u0000')", 'value === undefined'),
  BODY('if (length + chunk.length > most) {', 'if (length + chunk.length > 2 * most) {'),
  JSON_TEXT('if (keys + places > 0 && countKeys(value) !== keys + places) throw', 'if (keys < 0) throw'),
  JSON_TEXT('  if (!input.isWellFormed()) {', "  if (input === '') {"),
  CSV('if (columns.has(name))', "if (columns.has(''))"),

  // Imports and their undo.
  IMPORT_RUN("if (fault.code !== 'OVERLOADED' || session.patienceMs < pause) break;", 'break;'),
  UNDO('return before === undefined ? await decide(ctx) : {', 'return Date.now() > 0 ? await decide(ctx) : {'),
  UNDO(
    'for (const { id, revision } of await work.read(caller, (ctx) => listUndone(ctx, runId))) left.set(id, revision);',
    '',
  ),
  UNDO("if (run.state === 'RUNNING' && Date.parse(ctx.now) - Date.parse(run.touchedAt) < LIVE_MS) {", 'if (false) {'),
  UNDO("if (run.dryRun) throw new Fault('STATE_CONFLICT'", "if (run.total < 0) throw new Fault('STATE_CONFLICT'"),
  IMPORT_ROWS("set: ['undo', 'undoRevision']", "set: ['undo'] as never"),

  // Groups of units.
  GROUPS('const LOCK_MS = 100;', 'const LOCK_MS = 100_000;'),
  GROUPS('const isFree = !records.some((record) => this.#writing.has(record));', 'const isFree = records.length >= 0;'),
  GROUPS("if (this.#claimed.has(key)) throw failedGuard('idempotency-busy');", '', 'test/group-commit.db.test.ts'),
  GROUPS(
    '(row?.returned?.[returned.value.id] ?? null)',
    '(Object.values(row?.returned ?? {})[0] ?? null)',
    'test/group-commit.db.test.ts',
  ),

  // Mail.
  MAIL_DECISION("sender.mustBeProven && facts.dmarc !== 'pass'", "sender.mustBeProven && facts.dmarc === 'fail'"),
  MAIL_DECISION("token.state === 'valid' && token.userId !== sender.userId", "sender.userId === ''"),
  MAIL_DECISION('record.objectId !== objectId || ', ''),
  MAIL_DECISION("unknownSender === 'refuse' || dmarc === 'fail'", "unknownSender === 'refuse'"),
  MAIL_DECISION("answers === 'unknown' ? mostRestricted(record)", "answers === 'unknown' ? ownVisibility(record)"),
  MAIL_DECISION("  if (!seenBy(record).includes(visibility)) return listed('RIGHT_MISSING');\n", ''),
  MAIL_DECISION('...COMMENT_RIGHTS]', '...COMMENT_RIGHTS.slice(1)]'),
  MAIL_DECISION("  if (token.state === 'none' && facts.refers) return listed('TOKEN_MISSING');\n", ''),

  // Rules.
  RULES("!right.can('read') || !seesEvent", '!seesEvent'),
  RULES("!right.can('read') || !seesEvent(occasion.event, right)", "!right.can('read')"),
  RULES('timing.since !== SINCE_STATE && !right.canRead(timing.since)', "timing.since === ''"),
  RULES("code === 'state' || code === 'workflowState' || right.canRead(code)", "code !== ''"),
  RULES("if (field.kind === 'value') return right.canRead(code);", "if (field.kind === 'value') return true;"),
  RULES('return titleField !== null && right.canRead(titleField);', 'return true;'),
  RULES('withEvent(after, { ...event, changed }, right.canRead)', 'withEvent(after, { ...event, changed })'),
  RULES("return visibility ?? (typeof commentId === 'string' ? DEFAULT_VISIBILITY : null);", 'return visibility;'),
  RULE_READS('decidingFields(rule, object).every((code) => object.right.canRead(code))', 'object !== undefined'),
  RULE_READS("return runAsId === ctx.actor.userId || ctx.actor.has('role.assign');", 'return true;'),
  of('src/domain/rules/reaction.ts', 'src/domain/rules/many.db.test.ts')(' || ++count.fired > MAX_FIRINGS', ''),
  of('src/domain/rules/reaction.ts', 'src/domain/rules/rules.db.test.ts')(
    'could not be carried out, so the change was refused. Ask an administrator.`',
    'could not be carried out: ${cause.message}`',
  ),

  // Notifications.
  of('src/domain/notifications/rules.ts', 'src/domain/notifications/rules.test.ts')(
    'if (id !== event.actorId) found',
    'found',
  ),
  AUDIENCE(
    'if (visibility !== null && !canSeeComment(object, visibility)) return',
    'if (object === null) return',
    NOTIFIED,
  ),
  AUDIENCE("    if (kind === 'watch' && !object.right.can('history')) return false;\n", ''),
  AUDIENCE(
    'return Object.keys(current).some((code) => object.right.canRead(code));',
    'return Object.keys(current).length > 0;',
  ),
  AUDIENCE("eventType === 'RuleNotified'\n      ?", 'eventType === null\n      ?'),
  NOTIFIED_EFFECTS("const seesOthers = actor.has('user.administer');", 'const seesOthers = actor !== null;'),
  NOTIFIED_EFFECTS('seesOthers && maySeeOthers(objects.get(one.event.objectId), one)', 'seesOthers'),
  NOTIFIED_EFFECTS(
    'return visibility === null || canSeeComment(object, visibility);',
    'return visibility === null || object !== undefined;',
    NOTIFIED_HIDDEN,
  ),
  NOTIFIED_STORE("  key: ['userId'],\n", '  key: [],\n'),
  NOTIFIED_STORE("c.state = 'ACTIVE' AND ${visibleComments(ctx, 'c', 'o')}", "c.state = 'ACTIVE'"),
  NOTIFIED_STORE('`n.user_id = ${userId}::uuid AND ${read}', '`n.user_id = ${userId}::uuid'),
  NOTIFIED_STORE("(n.kind <> 'watch' OR ${history}) AND", '(true OR ${history}) AND', NOTIFIED_HIDDEN),
  NOTIFIED_STORE(' AND ${readableFields(ctx)}))`', '))`', NOTIFIED_HIDDEN),
  of('src/domain/notifications/module.ts', 'test/backup-notifications.db.test.ts')(
    '{ notification_imports: importsForBackup }',
    '{}',
  ),
];
