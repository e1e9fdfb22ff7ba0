/**
 * Applies a bundle on the configuration version that the user saw. If it changed since, shows both sides and asks; asks, too,
 * before values of records are discarded.
 */
import { Stack, Text, Title } from '@mantine/core';
import { ApiFault, type AnswerOf, call } from '../../api/client.ts';
import type { configuration } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { confirm } from '../../ui/confirm.tsx';
import { problemMessage } from '../../problems/message.ts';
import { PlanView } from './plan-view.tsx';
import { type ApplyBody, planBundle, type PlannedChange } from './queries.ts';
import { texts } from './texts.ts';

type Applied = AnswerOf<typeof configuration.apply>;

interface Sides {
  mine: readonly PlannedChange[];
  theirs: readonly PlannedChange[];
}

function BothSides({ mine, theirs }: Sides) {
  const t = useText(texts);
  return (
    <Stack gap="sm">
      <Text size="sm">{t.changedBody}</Text>
      <Title order={3} size="h5">
        {t.changedMeanwhile}
      </Title>
      <PlanView items={theirs} />
      <Title order={3} size="h5">
        {t.changedMine}
      </Title>
      <PlanView items={mine} />
    </Stack>
  );
}

function Discarded({ places }: { places: ApiFault['places'] }) {
  const t = useText(texts);
  return (
    <Stack gap="xs">
      <Text size="sm">{t.discardBody}</Text>
      <ul>
        {places.map((place) => (
          <li key={place.path}>{problemMessage(place)}</li>
        ))}
      </ul>
    </Stack>
  );
}

/**
 * @param words texts of the questions, in the language of the console
 * @param expected the version that the user saw
 * @throws ApiFault CONFIGURATION_CHANGED, VALUES_WOULD_BE_LOST if the user does not agree
 */
export async function applyChecked(
  body: ApplyBody,
  expected: number,
  words: { changedTitle: string; applyNewest: string; discardTitle: string; discard: string },
): Promise<Applied> {
  try {
    return await call<typeof configuration.apply>('POST', '/config/apply', { body: { ...body, expected } });
  } catch (error) {
    if (!(error instanceof ApiFault)) throw error;
    if (error.code === 'VALUES_WOULD_BE_LOST') {
      const lost = <Discarded places={error.places} />;
      const agreed = await confirm({ title: words.discardTitle, body: lost, yes: words.discard, danger: true });
      if (!agreed) throw error;
      const discard = [...(body.discard ?? []), ...error.places.map(({ path }) => path)];
      return await applyChecked({ ...body, discard }, expected, words);
    }
    if (error.code !== 'CONFIGURATION_CHANGED') throw error;
    const { items, configVersion } = await planBundle(body);
    const query = { from: expected, to: configVersion };
    const theirs = await call<typeof configuration.diffConfigVersions>('GET', '/config/diff', { query });
    const sides = <BothSides mine={items} theirs={theirs} />;
    const question = { title: words.changedTitle, body: sides, yes: words.applyNewest, wide: true };
    if (!(await confirm(question))) throw error;
    return await applyChecked(body, configVersion, words);
  }
}
