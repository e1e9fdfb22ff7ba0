/**
 * The bundle's section `knowledgeBases`: bases with their sections. Articles are not configuration
 * (docs/spec/configuration.md#bundle).
 */
import Type, { type Static } from 'typebox';
import { closed, Code, described, LocaleCode, type Localized, Name, oneOf, optional } from '../../contract/schemas.ts';
import { defineSection } from '../../configuration/define.ts';
import { compileTree, normaliseTree, type TreeNode, TreeSchema } from '../../configuration/checks.ts';

const BaseItem = closed({
  code: Code,
  name: Type.Optional(Name),
  visibility: described(
    'Articles of an internal base need the right kb.read; those of a portal base can also be read in the portal with kb.portal.',
    oneOf(['internal', 'portal']),
  ),
  locales: described(
    'Languages in which articles can be written. The first ones are shown before others if a reader has no version in their own.',
    Type.Array(LocaleCode, { minItems: 1, maxItems: 100, uniqueItems: true }),
  ),
  sections: optional('Tree of headings under which articles stand.', TreeSchema('sections')),
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
