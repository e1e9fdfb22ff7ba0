/**
 * The bundle's section `knowledgeBases`: bases with their sections. Articles are not configuration
 * (docs/spec/configuration.md#bundle).
 */
import Type, { type Static } from 'typebox';
import { closed, nullable } from '../../contract/schemas.ts';
import { checkTree, checkUnique } from '../../configuration/checks.ts';
import { defineSection } from '../../configuration/define.ts';
import { Code, LocaleCode, type Localized, Name, oneOf } from '../../configuration/schemas.ts';

const BaseItem = closed({
  code: Code,
  name: Type.Optional(Name),
  visibility: oneOf(['internal', 'portal']),
  locales: Type.Array(LocaleCode, { minItems: 1, maxItems: 100, uniqueItems: true }),
  sections: Type.Optional(
    Type.Array(closed({ code: Code, name: Type.Optional(Name), parent: Type.Optional(nullable(Code)) }), {
      maxItems: 1000,
    }),
  ),
});

export interface KnowledgeBaseDefinition {
  code: string;
  name: Localized;
  visibility: 'internal' | 'portal';
  locales: string[];
  sections: { code: string; name: Localized; parent?: string }[];
}

export const knowledgeBasesSection = defineSection<Static<typeof BaseItem>, KnowledgeBaseDefinition>({
  key: 'knowledgeBases',
  schema: BaseItem,
  normalise: (item) => ({
    code: item.code,
    name: (item.name as Localized | undefined) ?? item.code,
    visibility: item.visibility,
    locales: item.locales,
    sections: (item.sections ?? []).map(({ code, name, parent }) => ({
      code,
      name: (name as Localized | undefined) ?? code,
      ...(parent === undefined || parent === null ? {} : { parent }),
    })),
  }),
  compile: (base, view, report) => {
    checkUnique(base.sections, (section) => section.code, ['sections'], 'code', report);
    checkTree(base.sections, ['sections'], report);
    const known = new Set(base.sections.map((section) => section.code));
    const id = (code: string | undefined): string | null =>
      code !== undefined && known.has(code) ? view.nested(`knowledgeBases/${base.code}/sections`, code) : null;
    const sections = base.sections.map((section) => ({
      id: id(section.code),
      ...section,
      parentId: id(section.parent),
    }));
    return { ...base, sections };
  },
});
