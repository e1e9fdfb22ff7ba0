/** Russian messages for errors in values, constraints, conditions and rich texts of a configuration (`problem-sentences.ts`). */
import type { Line } from './problem-sentences.ts';

const CONDITIONS: readonly Line[] = [
  [
    'A condition is an object with field, operator and value, or with logic and conditions.',
    'В условии стоят field, operator и value или logic и conditions.',
  ],
  ['Take this out: here stand only {known}.', 'Уберите: здесь бывают только {known}.'],
  ['Groups may be nested at most {n} deep.', 'Уровней вложенности у условий может быть не больше {n}.'],
  ['logic must be "AND" or "OR".', 'В logic может быть "AND" или "OR".'],
  ['A group needs conditions.', 'Не хватает conditions.'],
  ['conditions must be an array.', 'В conditions должен быть список.'],
  ['A group needs at least one condition.', 'В conditions нужно хотя бы одно условие.'],
  ['A group holds at most {n} conditions.', 'Вместе может стоять не больше {n} условий.'],
  ['A filter holds at most {n} conditions in all.', 'Всего условий может быть не больше {n}.'],
  ['The operator {operator} needs a value.', 'Для {operator} нужно value.'],
  [
    'The operator {operator} does not fit a field of type {type}; these fit: {known}.',
    '{operator} не подходит полю типа {type}; подходят {known}.',
  ],
  ['A condition needs a field.', 'Не хватает поля (field).'],
  ['field must be a string.', 'В field должен быть текст.'],
  ['There is no such field to filter by.', 'Такого поля для отбора нет.'],
  ['A condition needs an operator.', 'Не хватает сравнения (operator).'],
  ['operator must be one of {known}.', 'В operator может быть одно из: {known}.'],
  [
    'The value of is-empty must be true or false; left out it is true.',
    'У is-empty в value может быть true или false; если не указать, это true.',
  ],
  ['The value of in must be an array.', 'У in в value должен быть список.'],
  ['The value of in needs at least one element.', 'У in в списке нужно хотя бы одно значение.'],
  ['The value of in holds at most {n} elements.', 'У in в списке может быть не больше {n} значений.'],
  [
    'The value of range must be an array of two bounds, the lower one first.',
    'У range в value должен быть список из двух границ, сначала нижняя.',
  ],
  [
    'The value must be {=what}. Use is-empty to ask for no value.',
    'Укажите {=what}. Пустое значение ищут через is-empty.',
  ],
  ['The value is not one of the options of the field.', 'Такого варианта у поля нет.'],
  [
    'There is no such variable. A text that starts with "$" is written with "$$".',
    'Такой переменной нет. Если текст начинается с «$», пишите «$$».',
  ],
  [
    'The variable does not fit a field of type {type}; it is of type {variable}.',
    'Переменная не подходит полю типа {type}: её тип — {variable}.',
  ],
  [
    'The variable stands for several values; use it with the operator in.',
    'Переменная — это несколько значений; используйте её с in.',
  ],
];

const VALUES: readonly Line[] = [
  ['There is no such field.', 'Такого поля нет.'],
  ['A value is required.', 'Нужно значение.'],
  ['The value must be absent.', 'Значения здесь быть не должно.'],
  ['The value must be at least {bound}.', 'Значение должно быть не меньше {bound}.'],
  ['The value must be at most {bound}.', 'Значение должно быть не больше {bound}.'],
  ['The value must have at least {n} characters.', 'Знаков должно быть не меньше {n}.'],
  ['The value may have at most {n} characters.', 'Знаков должно быть не больше {n}.'],
  ['The exponent of a number must lie between -{n} and {m}.', 'Порядок числа должен быть от -{n} до {m}.'],
  ['A number may have at most {n} digits behind the point.', 'Знаков после запятой может быть не больше {n}.'],
  ['The value may have at most {n} digits behind the point.', 'Знаков после запятой может быть не больше {n}.'],
  ['The value must lie between {min} and {max}.', 'Укажите число от {min} до {max}.'],
  ['The value does not match the pattern of the field.', 'Значение не подходит под образец поля.'],
  ['The value is not the code of an option of this field.', 'Варианта с таким кодом у поля нет.'],
  ['The value must be one line.', 'Текст должен быть в одну строку.'],
  ['The value holds U+0000 or half of a surrogate pair.', 'В тексте есть U+0000 или половина суррогатной пары.'],
  ['The value has too many combining marks in a row.', 'В тексте слишком много надстрочных знаков подряд.'],
  ['The value is larger than 64 KiB of JSON.', 'Значение больше 64 КиБ в виде JSON.'],
  ['A text holds U+0000 or half of a surrogate pair.', 'В тексте есть U+0000 или половина суррогатной пары.'],
  ['The value must be JSON.', 'Значение должно быть JSON.'],
  ['The value is nested more than {n} deep.', 'Уровней вложенности может быть не больше {n}.'],
  ['A key is not accepted.', 'Один из ключей не годится.'],
  ['The list may have at most {n} elements.', 'Значений в списке может быть не больше {n}.'],
  ['An element of a list must not be empty.', 'В списке не должно быть пустых значений.'],
  ['An element may stand in the list only once.', 'В списке одно значение может стоять только раз.'],
  ['The value must be {=what}.', 'Укажите {=what}.'],
];

const CONSTRAINTS: readonly Line[] = [
  ['No call could name a field of this code.', 'Поле с таким кодом нельзя было бы назвать в запросе.'],
  [
    'A multiple field of type {type} has no such constraint.',
    'У поля типа {type} с несколькими значениями такого ограничения нет.',
  ],
  ['A field of type {type} has no such constraint.', 'У поля типа {type} такого ограничения нет.'],
  ['A field of type {type} cannot be multiple.', 'У поля типа {type} не может быть нескольких значений.'],
  [
    'minLength is more than the longest value that the field takes.',
    'minLength больше, чем самое длинное значение поля.',
  ],
  [
    'A pattern must be a string of at most {n} characters.',
    'Образец — это текст, в нём может быть не больше {n} знаков.',
  ],
  ['The pattern is not of RE2 syntax: {=why}.', 'Образец не по правилам RE2: {=why}.'],
  [
    'The pattern takes too long on the longest value; simplify it, or lower maxLength or maxItems.',
    'На самом длинном значении образец проверяется слишком долго; упростите его или уменьшите maxLength или maxItems.',
  ],
  ['min is more than max.', 'min больше, чем max.'],
  ['An enum needs 1 to {n} options.', 'У поля типа enum вариантов может быть от 1 до {n}.'],
  [
    'The code of an option is 1 to 63 letters, digits, dots, hyphens and underscores.',
    'Код варианта — от 1 до 63 латинских букв, цифр, точек, дефисов и подчёркиваний.',
  ],
  ['Another option has this code.', 'Такой код есть у другого варианта.'],
  [
    'This must be a list of codes of record types; leave it out for any type.',
    'Укажите список кодов видов записей; если годится любой, уберите это.',
  ],
  ['This must be the code of a record type.', 'Укажите код вида записей.'],
  ['This type stands in the list already.', 'Этот вид записей в списке уже есть.'],
  ['The default must be a list.', 'Значением по умолчанию должен быть список.'],
  ['The default must be one value.', 'Значение по умолчанию должно быть одно.'],
  [
    'The default must name things by login or code, each once.',
    'В значении по умолчанию назовите логин или код, каждый по одному разу.',
  ],
  ['The default is empty; leave it out.', 'Значение по умолчанию пустое; уберите его.'],
  ['A default cannot hold images.', 'В значении по умолчанию не может быть картинок.'],
];

const FORMATTED_TEXTS: readonly Line[] = [
  ['The document is larger than 1 MiB of JSON, images apart.', 'Текст больше 1 МиБ в виде JSON, не считая картинок.'],
  ['The document is larger than 1 MiB of JSON.', 'Текст больше 1 МиБ в виде JSON.'],
  ['A document starts with a node of type doc.', 'Текст с оформлением начинается с узла doc.'],
  ['The document is more than {n} nodes deep.', 'Уровней вложенности в тексте может быть не больше {n}.'],
  ['The document has more than {n} nodes.', 'Узлов в тексте может быть не больше {n}.'],
  ['A node must be a JSON object.', 'Узел должен быть объектом JSON.'],
  ['There is no node of this type.', 'Узла такого типа нет.'],
  ['Only a node of type text has text.', 'Текст бывает только у узла text.'],
  ['Only text has marks.', 'Оформление (marks) бывает только у текста.'],
  ['This property is not known here.', 'Такого свойства здесь нет.'],
  ['A text must be a string that is not empty.', 'Укажите непустой текст.'],
  ['The text has too many combining marks in a row.', 'В тексте слишком много надстрочных знаков подряд.'],
  ['Marks must be a list.', 'В marks должен быть список.'],
  ['There is no mark of this type.', 'Такого оформления нет.'],
  ['This mark stands here twice.', 'Это оформление стоит здесь дважды.'],
  ['Attributes must be a JSON object.', 'В attrs должен быть объект JSON.'],
  ['This attribute is not known here.', 'Такого свойства здесь нет.'],
  ['This must be {=what}, or null.', 'Укажите {=what} или null.'],
  ['This must be {=what}.', 'Укажите {=what}.'],
  ['Content must be a list of nodes.', 'В content должен быть список узлов.'],
  ['No {type} may stand here.', 'Здесь не может стоять {type}.'],
  ['Text in {type} has no marks.', 'В {type} текст не оформляют.'],
  ['Something is missing: {type} holds {content}.', 'Чего-то не хватает: в {type} должно быть {content}.'],
  [
    'An inline image must be a base64 data URL of a PNG, JPEG, GIF or WebP image.',
    'Картинка должна быть адресом data: с PNG, JPEG, GIF или WebP в base64.',
  ],
  ['An inline image may have at most 2 MiB.', 'Картинка может быть не больше 2 МиБ.'],
  ['The base64 of an inline image is malformed.', 'Запись картинки в base64 испорчена.'],
  [
    'The content of an inline image is not of the type that its URL names.',
    'Содержимое картинки не того типа, что назван в адресе.',
  ],
  ['A document may have at most {n} images.', 'Картинок в тексте может быть не больше {n}.'],
];

export const VALUE_SENTENCES: readonly Line[] = [...CONDITIONS, ...VALUES, ...CONSTRAINTS, ...FORMATTED_TEXTS];
