/** Checks of texts with placeholders in configuration (`lib/template.ts`). */
import { problem } from '../lib/problem.ts';
import { isTemplateName, placeholders } from '../lib/template.ts';
import type { Localized } from '../contract/schemas.ts';
import type { ItemPath, Report } from './section.ts';

interface TypeWithFields {
  code: string;
  fields: readonly { code: string }[];
}

/** Reports each text with a placeholder for a field that one of the types lacks. */
export function checkTemplate(text: Localized, path: ItemPath, types: readonly TypeWithFields[], report: Report): void {
  if (typeof text !== 'string') {
    for (const [locale, one] of Object.entries(text)) checkTemplate(one, [...path, locale], types, report);
    return;
  }
  for (const name of placeholders(text)) {
    const lacking = types.find(({ fields }) => !isTemplateName(name) && !fields.some(({ code }) => code === name));
    if (lacking !== undefined) {
      return report(path, problem('TYPE_HAS_NO_FIELD', { type: lacking.code, field: name }));
    }
  }
}
