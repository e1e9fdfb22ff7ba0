/** What a list or a picker says while there is nothing in it, with a link to the page where the first item is made. */
import { Anchor, Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useHas } from '../../app/session.ts';
import { defineText, useText } from '../../i18n/text.ts';
import { newItemPage, type PagedSection } from './pages.ts';
import { sectionQuery } from './queries.ts';

type Missing = Readonly<Record<PagedSection, string>>;

export const missingTexts = defineText(
  {
    types: 'Доступных типов записей пока нет. С них начинается настройка.',
    workflows: 'Процессов пока нет. Процесс задаёт состояния записей и переходы между ними.',
    relationDefinitions: 'Типов связей пока нет. Они нужны, чтобы связывать записи.',
    roles: 'Ролей пока нет. Роль даёт пользователям права.',
    services: 'Услуг пока нет. Они нужны в каталоге и в полях записей.',
    catalogs: 'Каталога пока нет. Он нужен, чтобы пользователи отправляли заявки по формам.',
    calendars: 'Календарей пока нет. По календарю считается рабочее время SLA.',
    slaPolicies: 'Политик SLA пока нет. Политика задаёт сроки для записей.',
    macros: 'Макросов пока нет. Макрос — это готовый ответ или изменение записи.',
    synonyms: 'Синонимов пока нет. Синонимы — слова, которые поиск считает одним.',
    rules: 'Правил пока нет. Правило само меняет записи, когда с ними что-то происходит.',
    dashboards: 'Панелей показателей пока нет. Панель показывает показатели ролям и группам.',
    knowledgeBases: 'Баз знаний пока нет. В базе знаний хранятся статьи.',
    users: 'Пользователей пока нет.',
    groups: 'Групп пока нет. Группе можно дать роль и назначить запись.',
    orgUnits: 'Подразделений пока нет.',
    webhooks: 'Подписок пока нет. Подписка отправляет события в другую систему.',
    signingSecrets: 'Секретов подписи пока нет. По подписи получатель узнаёт, что вызов от этого сервиса.',
    integrations: 'Интеграций пока нет. Интеграция принимает вызовы другой системы.',
    importDefinitions: 'Импортов пока нет. Импорт загружает записи, пользователей или группы из файла.',
  } satisfies Missing,
  {
    types: 'No record types are available yet. They are the first thing to set up.',
    workflows: 'No workflows yet. A workflow defines the states of records and the transitions between them.',
    relationDefinitions: 'No relation types yet. Records are linked with them.',
    roles: 'No roles yet. A role gives users their permissions.',
    services: 'No services yet. The catalog and fields of records use them.',
    catalogs: 'No catalog yet. Users send requests with its forms.',
    calendars: 'No calendars yet. SLA working time is counted by a calendar.',
    slaPolicies: 'No SLA policies yet. A policy sets the targets of records.',
    macros: 'No macros yet. A macro is a canned reply or a prepared change of a record.',
    synonyms: 'No synonyms yet. Synonyms are words that a search treats as one.',
    rules: 'No rules yet. A rule changes records by itself when something happens to them.',
    dashboards: 'No dashboards yet. A dashboard shows figures to roles and groups.',
    knowledgeBases: 'No knowledge bases yet. A knowledge base holds articles.',
    users: 'No users yet.',
    groups: 'No groups yet. A group can hold a role and be assigned to a record.',
    orgUnits: 'No organization units yet.',
    webhooks: 'No subscriptions yet. A subscription sends events to another system.',
    signingSecrets: 'No signing secrets yet. By the signature, a receiver knows that a call comes from this service.',
    integrations: 'No integrations yet. An integration takes calls of another system.',
    importDefinitions: 'No imports yet. An import loads records, users or groups from a file.',
  },
);

const texts = defineText({ create: 'Создать' }, { create: 'Create' });

/** A sentence that says what is missing, with a link to its page for users who may make one. */
export function CreateFirst({ section }: { section: PagedSection }) {
  const t = useText(texts);
  const missing = useText(missingTexts);
  const page = newItemPage(section, useHas());
  return (
    <>
      {missing[section]}{' '}
      {page !== undefined && (
        <Anchor inherit underline="always" renderRoot={(props) => <Link to={page} {...props} />}>
          {t.create}
        </Anchor>
      )}
    </>
  );
}

/**
 * The description of a picker of items of the section while there is nothing to choose.
 *
 * @param count the number of choices; undefined while they are loaded
 */
export function useCreateFirst(section: PagedSection, count: number | undefined): { description?: ReactNode } {
  return count === 0 ? { description: <CreateFirst section={section} /> } : {};
}

/** The same for choices that `useCodes` returns. */
export function useCreateFirstOf(section: PagedSection, choices: readonly unknown[]): { description?: ReactNode } {
  const { isSuccess } = useQuery(sectionQuery(section));
  return useCreateFirst(section, isSuccess ? choices.length : undefined);
}

/** The button of an empty list. */
export function CreateButton({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <Button leftSection={<IconPlus size={14} />} onClick={onClick}>
      {label}
    </Button>
  );
}
