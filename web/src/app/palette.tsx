/** The command palette (Ctrl K): go to a list, a queue, a screen or a record, or create a record, by typing. */
import { Kbd, Modal, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { builtInQueuesQuery, deskTypesQuery, queuesQuery } from '../desk/queries.ts';
import { suggestionName, useSuggestions } from '../desk/search/suggestions.ts';
import { listSearchOf } from '../desk/queues/built-in-links.tsx';
import { texts as queueTexts } from '../desk/queues/texts.ts';
import { useLanguage } from '../i18n/language.ts';
import { type Bilingual, both, useText } from '../i18n/text.ts';
import { adminScreens } from '../admin/screens.ts';
import { offered, workScreens } from '../screens.ts';
import { hasWords, OptionList } from '../ui/option-list.tsx';
import classes from './palette.module.css';
import { recordCommands } from './record-commands.ts';
import { useHas } from './session.ts';
import { texts } from './texts.ts';

interface Command {
  key: string;
  name: string;
  /** What kind of thing it is, shown at the right. */
  kind: string;
  run: () => void;
}

/** Most commands shown at once. */
const SHOWN = 12;

export function Palette({ opened, onClose, onHelp }: { opened: boolean; onClose: () => void; onHelp: () => void }) {
  const t = useText(texts);
  return (
    <Modal opened={opened} onClose={onClose} title={t.palette} size="lg" yOffset="10vh">
      <PaletteBody onClose={onClose} onHelp={onHelp} />
    </Modal>
  );
}

function PaletteBody({ onClose, onHelp }: { onClose: () => void; onHelp: () => void }) {
  const t = useText(texts);
  const [text, setText] = useState('');
  const records = useRecords(text.trim());
  const found = useCommands(onHelp).filter(({ name, kind }) => hasWords(text, name, kind));
  const commands = [...found.slice(0, SHOWN), ...records];
  return (
    <>
      <OptionList
        label={t.palette}
        placeholder={t.paletteHint}
        text={text}
        onText={setText}
        options={commands}
        keyOf={({ key }) => key}
        render={({ name, kind }) => (
          <>
            <span className={classes.name}>{name}</span>
            <Text size="xs" c="dimmed" span>
              {kind}
            </Text>
          </>
        )}
        onChoose={(command) => {
          onClose();
          command.run();
        }}
      />
      <Text size="xs" c="dimmed" mt="xs" role="status">
        {commands.length === 0 ? t.paletteNothing : null}
      </Text>
    </>
  );
}

/** What the user can go to or do without naming a record. */
function useCommands(onHelp: () => void): Command[] {
  const t = useText(texts);
  const language = useLanguage();
  const has = useHas();
  const q = useText(queueTexts);
  const { history, buildLocation } = useRouter();
  const { data: types = [] } = useQuery(deskTypesQuery);
  const { data: queues = [] } = useQuery(queuesQuery);
  const { data: builtIn = [] } = useQuery(builtInQueuesQuery);
  const go = (name: string, kind: string, path: string): Command => ({
    key: path,
    name,
    kind,
    run: () => history.push(path),
  });
  const [onRecord] = useState(recordCommands);
  return [
    ...onRecord.map((command) => ({ ...command, kind: t.onRecord })),
    go(t.allRecords, t.list, '/records'),
    ...builtIn.map((one) => {
      const { href } = buildLocation({ to: '/records', search: listSearchOf(one) });
      return go(q[one.code], t.queue, href);
    }),
    ...queues.map(({ id, name }) => go(name, t.queue, `/queues/${id}`)),
    ...types.filter((type) => type.canCreate).map(({ code, name }) => go(name, t.create, `/new/${code}`)),
    ...types.filter((type) => type.canRead).map(({ code, plural }) => go(plural, t.list, `/records?type=${code}`)),
    go(t.search, t.screen, '/search'),
    { key: 'help', name: t.shortcuts, kind: t.screen, run: onHelp },
    ...offered(workScreens, has).map(({ path, title }) => go(title[language], t.screen, `/work/${path}`)),
    ...offered(adminScreens, has).map(({ path, title }) => go(title[language], t.administration, `/admin/${path}`)),
  ];
}

/** Records found by the text. */
function useRecords(text: string): Command[] {
  const navigate = useNavigate();
  return useSuggestions(text).map((one) => ({
    key: one.id,
    name: suggestionName(one),
    kind: one.workflowState?.name ?? '',
    run: () => void navigate({ to: '/records/$recordId', params: { recordId: one.id } }),
  }));
}

/** Keys, separated by spaces, and what they do. */
const SHORTCUTS: readonly { name: Bilingual; keys: readonly (readonly [keys: string, does: Bilingual])[] }[] = [
  {
    name: both('Везде', 'Everywhere'),
    keys: [
      ['Ctrl K', both('Перейти или выполнить', 'Go to or run')],
      ['/', both('Поиск', 'Search')],
      ['Shift C', both('Создать запись', 'Create a record')],
      ['?', both('Сочетания клавиш', 'Keyboard shortcuts')],
    ],
  },
  {
    name: both('Список', 'List'),
    keys: [
      ['j k', both('Следующая и предыдущая строка', 'Next and previous row')],
      ['o', both('Открыть запись', 'Open the record')],
      ['x', both('Выбрать запись', 'Select the record')],
      ['Shift j k', both('Выбрать подряд', 'Select a range')],
      ['Ctrl A', both('Выбрать все загруженные записи', 'Select all loaded records')],
      ['e', both('Изменить поле выбранных записей', 'Edit a field of the selected records')],
      ['Esc', both('Снять выбор', 'Clear the selection')],
    ],
  },
  {
    name: both('Запись', 'Record'),
    keys: [
      ['a', both('Назначить на меня', 'Assign to me')],
      ['c', both('Написать комментарий', 'Write a comment')],
      ['r', both('Ответить заявителю', 'Reply to the requester')],
      ['n', both('Внутренний комментарий', 'Internal note')],
      ['m', both('Макрос', 'Macro')],
      ['t', both('Изменить состояние', 'Change the state')],
      ['j k', both('Следующая и предыдущая запись списка', 'Next and previous record of the list')],
      ['e', both('Изменить тему', 'Edit the title')],
      ['Ctrl Enter', both('Отправить комментарий', 'Send the comment')],
      ['Ctrl S', both('Сохранить изменения', 'Save changes')],
    ],
  },
];

/** The keys of the console, by where they work. */
export function ShortcutHelp({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const language = useLanguage();
  const t = useText(texts);
  return (
    <Modal opened={opened} onClose={onClose} title={t.shortcuts} size="lg">
      {SHORTCUTS.map(({ name, keys }) => (
        <section key={name[language]}>
          <h2 className={classes.heading}>{name[language]}</h2>
          <dl className={classes.keys}>
            {keys.map(([key, does]) => (
              <div key={key} className={classes.key}>
                <dt>
                  {key.split(' ').map((one) => (
                    <Kbd key={one} size="xs" mr={4}>
                      {one}
                    </Kbd>
                  ))}
                </dt>
                <dd>{does[language]}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Modal>
  );
}
