/** Translates the service's English plan messages to Russian. */

/** Patterns of texts after "FIELD: " and of notes; `$1` and so on are their variable parts. */
const RUSSIAN: readonly (readonly [RegExp, string])[] = [
  [/^the field is gone$/, 'поля больше нет'],
  [/^the field is new and required$/, 'поле новое и обязательное'],
  [/^the data type changed from (\S+) to (\S+)$/, 'тип данных был $1, стал $2'],
  [/^the field became multiple$/, 'значений стало несколько'],
  [/^the field is no longer multiple$/, 'значение стало одно'],
  [/^the field became required$/, 'поле стало обязательным'],
  [/^maxLength is lower$/, 'наибольшая длина меньше'],
  [/^minLength is higher$/, 'наименьшая длина больше'],
  [/^maxItems is lower$/, 'значений может быть меньше'],
  [/^scale is lower$/, 'знаков после запятой меньше'],
  [/^the pattern changed$/, 'образец другой'],
  [/^min is higher$/, 'нижняя граница выше'],
  [/^max is lower$/, 'верхняя граница ниже'],
  [/^the option (.+) is gone$/, 'варианта $1 больше нет'],
  [/^fewer types may be referred to$/, 'указывать можно на меньшее число видов'],
  [/^the workflow is another one$/, 'процесс другой'],
  [/^indexes to build: (.+)$/, 'будут построены индексы: $1'],
  [/^indexes to drop: (.+)$/, 'будут убраны индексы: $1'],
  [/^archived by a call or import, and stays so$/, 'в архиве после вызова или импорта, там и останется'],
  [/^enabled: it is disabled, changed and enabled again$/, 'включено: будет выключено, изменено и включено снова'],
  [
    /^role (\S+): whether (\S+) of (\S+) is listed can depend on the field (\S+), which the role cannot read$/,
    'роль $1: доступность перехода $2 вида записей $3 может зависеть от поля $4, которое роль не читает',
  ],
  [
    /^role (\S+): whether (\S+) of (\S+) is listed can depend on the field (\S+), which row conditions of the role may hide$/,
    'роль $1: доступность перехода $2 вида записей $3 может зависеть от поля $4, которое из-за условий на записи роль читает не всегда',
  ],
  [/^more transitions that depend on hidden fields: (\d+)$/, 'ещё переходов, которые зависят от скрытых полей: $1'],
];

function russian(sentence: string): string | undefined {
  for (const [pattern, words] of RUSSIAN) if (pattern.test(sentence)) return sentence.replace(pattern, words);
  return undefined;
}

/** Returns a plan message in Russian; undefined if any part of it is unknown. */
export function russianPlan(said: string): string | undefined {
  const parts = said.split('; ').map((part) => {
    const whole = russian(part);
    if (whole !== undefined) return whole;
    const [field = '', ...rest] = part.split(': ');
    const sentence = russian(rest.join(': '));
    return sentence === undefined ? undefined : `${field}: ${sentence}`;
  });
  return parts.includes(undefined) ? undefined : parts.join('; ');
}
