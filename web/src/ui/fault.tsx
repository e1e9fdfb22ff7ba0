/** Error messages for users, by the cause or the code of the error. */
import { Alert, Button, Group, List, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useCallback } from 'react';
import { ApiFault, type FaultPlace } from '../api/client.ts';
import { useLanguage } from '../i18n/language.ts';
import { useText } from '../i18n/text.ts';
import { faultTexts } from '../problems/fault-texts.ts';
import { problemMessage } from '../problems/message.ts';
import { texts } from './texts.ts';

/** Returns a function that formats an error. */
export function useFaultText(): (error: unknown) => string {
  const t = useText(faultTexts);
  return (error) => {
    if (!(error instanceof ApiFault)) return t.UNEXPECTED;
    return error.places.length === 0 && error.explanation !== undefined ? error.explanation : wordsOf(t, error);
  };
}

/** Returns a function that formats a stored error: by its code if known, else the service's message. */
export function useNotedFaultText(): (noted: { code: string; message: string }) => string {
  const t = useText(faultTexts);
  return useCallback((noted) => wordsOf(t, noted), [t]);
}

function wordsOf(
  words: Readonly<Record<string, unknown>>,
  { code, message }: { code: string; message: string },
): string {
  const known = Object.hasOwn(words, code) ? words[code] : undefined;
  return typeof known === 'string' ? known : message;
}

/** Returns a function that formats one invalid place: the field's name, if known, and the problem. */
export function usePlaceText(names?: ReadonlyMap<string, string>): (place: FaultPlace) => string {
  // Renders again when the language changes.
  useLanguage();
  return (place) => {
    // `/values/title` becomes the field `title`; `query.filter` is unchanged.
    const name = place.path.replace(/^\/(?:values|changes)\//, '').replace(/^\//, '');
    const said = problemMessage(place);
    return name === '' ? said : `${names?.get(name) ?? name}: ${said}`;
  };
}

/** An inline error with its invalid places and a retry button. */
export function FaultAlert({ error, retry }: { error: unknown; retry?: () => void }) {
  const t = useText(texts);
  const say = useFaultText();
  const placeText = usePlaceText();
  if (error === null || error === undefined) return null;
  const fault = error instanceof ApiFault ? error : undefined;
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle size={18} />} role="alert">
      <Text size="sm">{say(error)}</Text>
      {fault !== undefined && fault.places.length > 0 && (
        <List size="xs" mt={4}>
          {fault.places.slice(0, 20).map((place) => (
            <List.Item key={`${place.path} ${place.code} ${place.message}`}>{placeText(place)}</List.Item>
          ))}
        </List>
      )}
      {fault !== undefined && fault.status >= 500 && fault.correlationId !== null && (
        <Text size="xs" c="dimmed" mt={4}>
          {t.reference}: {fault.correlationId}
        </Text>
      )}
      {retry !== undefined && (
        <Group mt="xs">
          <Button size="compact-xs" variant="default" onClick={retry}>
            {t.retry}
          </Button>
        </Group>
      )}
    </Alert>
  );
}
