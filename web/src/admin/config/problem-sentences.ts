/**
 * Russian translations of the service's configuration errors: files and shapes first, then the sections. `{name}` matches any
 * text; `{=name}` matches a phrase that is translated by `problem-phrases.ts`.
 */
export type Line = readonly [english: string, russian: string];

/** Reading files, and the structure of items. */
const SHAPES: readonly Line[] = [
  ['Nothing may be nested more than {n} deep.', 'Уровней вложенности может быть не больше {n}.'],
  ['This is no value that a bundle knows.', 'Такое значение в конфигурации не годится.'],
  ['There is no anchor {name} before this.', 'Выше этого места нет якоря {name}.'],
  ['The text holds U+0000 or half of a surrogate pair.', 'В тексте есть U+0000 или половина суррогатной пары.'],
  ['The number cannot be kept exactly; write it in quotes.', 'Это число не сохранить точно; возьмите его в кавычки.'],
  ['Use text, a number, true, false or null.', 'Укажите текст, число, true, false или null.'],
  ['The key {key} stands twice here; keep one of the two.', 'Ключ {key} стоит здесь дважды; оставьте один.'],
  ['A key must be text; put it in quotes.', 'Ключ должен быть текстом; возьмите его в кавычки.'],
  ['This key is not allowed.', 'Такой ключ не разрешён.'],
  ['A file holds one document; take out the "---".', 'В файле должен быть один документ; уберите «---».'],
  [
    'The file holds more than can be read: too many values, or nested too deep.',
    'Файл не прочитать: в нём слишком много значений или слишком глубокая вложенность.',
  ],
  [
    'A bundle file is a mapping of sections, such as "types:".',
    'В файле конфигурации стоят разделы, например «types:».',
  ],
  ['There is no section {key}; known are {known}.', 'Раздела {key} нет; есть {known}.'],
  ['{key} is a list; begin each item with "- ".', '{key} — это список; начинайте каждую строку в нём с «- ».'],
  ['The code {code} stands twice; it stands first at {place}.', 'Код {code} стоит дважды; первый раз — {place}.'],
  ['The login {login} stands twice; it stands first at {place}.', 'Логин {login} стоит дважды; первый раз — {place}.'],
  ['The {section} stands twice; it stands first at {place}.', 'Раздел {section} стоит дважды; первый раз — {place}.'],
  ['It must not be empty.', 'Не должно быть пусто.'],
  ['Use at least {n} characters.', 'Знаков должно быть не меньше {n}.'],
  ['Use at most {n} characters.', 'Знаков должно быть не больше {n}.'],
  ['It must match {pattern}.', 'Значение должно подходить под образец {pattern}.'],
  ['Use {=what}; it must match {pattern}.', 'Укажите {=what}; образец: {pattern}.'],
  ['Use {n} or more.', 'Укажите число не меньше {n}.'],
  ['Use {n} or less.', 'Укажите число не больше {n}.'],
  ['Name at least {n}.', 'Нужно не меньше {n}.'],
  ['Name at most {n}.', 'Можно не больше {n}.'],
  ['It stands here twice; name each once.', 'Здесь это стоит дважды; назовите по одному разу.'],
  ['The property {name} is missing.', 'Не хватает ключа {name}.'],
  ['There is no key {name} here; known are {known}.', 'Ключа {name} здесь нет; бывают {known}.'],
  ['There is no key {name} here.', 'Ключа {name} здесь нет.'],
  ['The key {name} must match {pattern}.', 'Ключ {name} должен подходить под образец {pattern}.'],
];

/** Messages shared by several sections. */
const SHARED: readonly Line[] = [
  [
    'There is no time zone {zone}; use an IANA name such as Europe/Moscow.',
    'Часового пояса {zone} нет; нужно название вроде Europe/Moscow.',
  ],
  ['There is no time zone {zone}.', 'Часового пояса {zone} нет.'],
  ['{key} stands here twice; keep one of the two.', '{key} стоит здесь дважды; оставьте одно.'],
  ['There is no user with the login {code}.', 'Человека с логином {code} нет.'],
  ['There is no group with the code {code}.', 'Группы с кодом {code} нет.'],
  ['There is no organisation unit with the code {code}.', 'Подразделения с кодом {code} нет.'],
  ['There is no service with the code {code}.', 'Услуги с кодом {code} нет.'],
  ['There is no record type with the code {code}.', 'Вида записей с кодом {code} нет.'],
  ['There is no workflow with the code {code}.', 'Процесса с кодом {code} нет.'],
  ['There is no calendar with the code {code}.', 'Календаря с кодом {code} нет.'],
  ['There is no signing secret with the code {code}.', 'Секрета подписи с кодом {code} нет.'],
  ['There is no item of {section} with the code {code}.', 'В разделе {section} нет ничего с кодом {code}.'],
  ['There is no {code} in this list.', 'В этом списке нет {code}.'],
  ['This closes a ring: {ring}.', 'Получается круг: {ring}.'],
  [
    'Everyone is in the audience already; name nobody beside, or take "everyone" out.',
    'Доступно и так всем: никого больше не называйте или уберите «everyone».',
  ],
  [
    'The item {code} of {section} is archived; name it in the bundle to restore it, and this refers to it.',
    'Здесь указано {code} (раздел {section}), а оно в архиве; чтобы вернуть, добавьте его в конфигурацию.',
  ],
  [
    'The item {code} of {section} would be archived, and this refers to it.',
    'Здесь указано {code} (раздел {section}), а оно уйдёт в архив.',
  ],
  ['The type {type} has no field {field}.', 'У вида записей {type} нет поля {field}.'],
  ['The field {field} is required and cannot be cleared.', 'Поле {field} обязательное, очистить его нельзя.'],
  [
    'The variable stands for several values, which only a condition takes; the field is of type {type}.',
    'Переменная — это несколько значений, они годятся только для условия; тип поля — {type}.',
  ],
  [
    'The variable stands for a value of type {variable}; the field is of type {type}.',
    'Значение переменной другого типа: {variable}, а тип поля — {type}.',
  ],
  [
    'The types that share this have fields {field} of different kinds.',
    'У видов записей, для которых это общее, поля {field} разные.',
  ],
];

const PEOPLE_AND_RIGHTS: readonly Line[] = [
  ['Take out the characters that cannot be seen.', 'Уберите невидимые знаки.'],
  ['Take out the blanks around it.', 'Уберите пробелы по краям.'],
  ['Use an e-mail address such as {address}.', 'Укажите адрес почты, например {address}.'],
  ['The user {login} has this e-mail address.', 'Этот адрес почты уже у человека с логином {login}.'],
  ['Write one line of text without control characters.', 'Нужна одна строка текста без управляющих символов.'],
  ['It must not be blank.', 'Одних пробелов мало.'],
  ['The user {login} has this external id.', 'Этот внешний идентификатор уже у человека с логином {login}.'],
  ['The groups contain each other: {ring}.', 'Группы входят друг в друга: {ring}.'],
  ['The units stand above each other: {ring}.', 'Подразделения стоят друг над другом: {ring}.'],
  ['There is no field {code} here; take it out.', 'Поля {code} здесь нет; уберите его.'],
  ['There is no transition {code} here; take it out.', 'Перехода {code} здесь нет; уберите его.'],
];

const TYPES_AND_WORKFLOWS: readonly Line[] = [
  [
    'Every record has {code} by itself; give the field another code.',
    '{code} есть у каждой записи и так; дайте полю другой код.',
  ],
  [
    'A default must not be empty; leave it out instead.',
    'Значение по умолчанию не может быть пустым; просто уберите его.',
  ],
  ['Images cannot stand in a default.', 'В значении по умолчанию не может быть картинок.'],
  ['There is no field {code} to be the title.', 'Поля {code}, которое указано заголовком, нет.'],
  [
    'A field that names a record is single and of type {types}.',
    'У поля-заголовка одно значение, а тип — один из этих: {types}.',
  ],
  [
    'Stored records still hold {code} of type {was}; run "docket migrate-type {type}" first, or take another code.',
    'В записях ещё хранится {code} прежнего типа ({was}); сначала выполните «docket migrate-type {type}» или возьмите другой код.',
  ],
  [
    'The code was taken away before, and the roles {roles} still name it; apply them without it first, so that the new field does not inherit the rights on the old one.',
    'Такой код уже убирали, а в ролях он остался: {roles}. Сначала примените их без него, чтобы права на прежнее поле не достались новому.',
  ],
  ['There is no state {code} in this workflow.', 'Состояния {code} в этом процессе нет.'],
  [
    'No transition leads from {from} to the state {code}, over however many steps.',
    'Из состояния {from} в состояние {code} не попасть ни за сколько переходов.',
  ],
  [
    'Records stand in the state {code}; move them out before it is taken away.',
    'В состоянии {code} есть записи; прежде чем убирать его, переведите их.',
  ],
];

const SERVICE: readonly Line[] = [
  [
    'The field {code} of {type} is of type {is}; it must be a reference.',
    'Поле {code} вида записей {type} — типа {is}, а нужна ссылка (reference).',
  ],
  ['The field {code} is of type {is}; it must be of type {must}.', 'Поле {code} — типа {is}, а нужен тип {must}.'],
  ['There is no category {code} in this catalogue.', 'Категории {code} в этом каталоге нет.'],
  ['One catalogue is active at a time, and {code} is.', 'Включён может быть только один каталог, и это {code}.'],
  [
    'Use hours, minutes and seconds of open time, such as PT4H; it must be more than nothing.',
    'Укажите часы, минуты и секунды рабочего времени, например PT4H; больше нуля.',
  ],
  [
    'A target without a condition fits always; put it last.',
    'Срок без условия подходит всегда; поставьте его последним.',
  ],
  [
    '{range} ends before it begins; a night is written as two days.',
    '{range}: конец раньше начала; ночь записывают двумя днями.',
  ],
  ['{range} begins before the range above it ends.', '{range}: начало раньше, чем конец промежутка перед ним.'],
  ['Use a date such as {date}.', 'Укажите дату, например {date}.'],
];

const CONNECTIONS: readonly Line[] = [
  ['Use an address that begins with https://.', 'Адрес должен начинаться с https://.'],
  ['Use an address such as {address}.', 'Укажите адрес, например {address}.'],
  ['Take user name and password out of the address.', 'Уберите из адреса имя и пароль.'],
  ['Take out what stands from "?" or "#" on.', 'Уберите всё, начиная с «?» или «#».'],
  [
    'The host is, or resolves to, an address that is not public.',
    'Адрес узла не публичный, или имя узла указывает на непубличный адрес.',
  ],
  [
    'The signing secret {code} has no value yet; run "docket secrets create {again}" first, or say enabled: false.',
    'У секрета подписи {code} ещё нет значения; сначала создайте его («docket secrets create {again}») или укажите enabled: false.',
  ],
  ['The command {command} needs a mapping to {target}.', 'Команде {command} нужно сопоставление для {target}.'],
  ['Map at least one field.', 'Сопоставьте хотя бы одно поле.'],
  ['The command {command} has no target {target} here.', 'У команды {command} здесь нет {target}.'],
  ['Say of which type the records are.', 'Укажите вид записей.'],
  ['A user has no record type; take this out.', 'У людей нет вида записей; уберите это.'],
  ['A group has no record type; take this out.', 'У групп нет вида записей; уберите это.'],
  ['A organization has no record type; take this out.', 'У подразделений нет вида записей; уберите это.'],
  ['Of a user an import fills {fields}.', 'У людей импорт заполняет {fields}.'],
  ['Of a group an import fills {fields}.', 'У групп импорт заполняет {fields}.'],
  ['Of a organization an import fills {fields}.', 'У подразделений импорт заполняет {fields}.'],
  ['Name a format, such as {example}.', 'Укажите формат, например {example}.'],
  ['Name a separator, such as {example}', 'Укажите разделитель, например {example}'],
  ['Give the map as a JSON object, such as {example}.', 'Укажите замены объектом JSON, например {example}.'],
  ['Name a type and a field, such as {example}.', 'Укажите вид записей и поле, например {example}.'],
  ['There is no record type {code}.', 'Вида записей {code} нет.'],
  ['Write {what}.', 'Напишите {what}.'],
  ['There is no transform {name}; known are {known}.', 'Преобразования {name} нет; бывают {known}.'],
];

export const CONFIG_SENTENCES: readonly Line[] = [
  ...SHAPES,
  ...SHARED,
  ...PEOPLE_AND_RIGHTS,
  ...TYPES_AND_WORKFLOWS,
  ...SERVICE,
  ...CONNECTIONS,
];

/** Matched last, because these patterns match many messages. */
export const OPEN_SENTENCES: readonly Line[] = [
  ['There is no field {code} here.', 'Поля {code} здесь нет.'],
  ['Use {=what}; put it in quotes.', 'Укажите {=what}; возьмите в кавычки.'],
  ['Use {=what}.', 'Укажите {=what}.'],
];
