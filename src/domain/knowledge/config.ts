/**
 * The bundle's section `knowledgeBases`: bases with their sections. Articles are not configuration
 * (docs/spec/configuration.md#bundle).
 */
import Type, { type Static } from 'typebox';
import { closed } from '../../contract/schemas.ts';
import { defineSection } from '../../configuration/define.ts';
import { Code, LocaleCode, type Localized, Name, oneOf } from '../../configuration/schemas.ts';
import { compileTree, normaliseTree, type TreeNode, TreeSchema } from '../../configuration/checks.ts';

const BaseItem = closed({
  code: Code,
  name: Type.Optional(Name),
  visibility: oneOf(['internal', 'portal']),
  locales: Type.Array(LocaleCode, { minItems: 1, maxItems: 100, uniqueItems: true }),
  sections: Type.Optional(TreeSchema('sections')),
});

export interface KnowledgeBaseDefinition {
  code: string;
  name: Localized;
  visibility: 'internal' | 'portal';
  locales: string[];
  sections: TreeNode[];
}

export const knowledgeBasesSection = defineSection<Static<typeof BaseItem>, KnowledgeBaseDefinition>({
  key: 'knowledgeBases',
  summary: 'Knowledge bases and their sections.',
  schema: BaseItem,
  normalise: (item) => ({
    code: item.code,
    name: (item.name as Localized | undefined) ?? item.code,
    visibility: item.visibility,
    locales: item.locales,
    sections: normaliseTree(item.sections),
  }),
  compile: (base, view, report) => ({
    ...base,
    sections: compileTree(base.sections, `knowledgeBases/${base.code}`, 'sections', view, report),
  }),
});
