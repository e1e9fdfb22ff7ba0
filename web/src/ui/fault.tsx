/** Error messages for users, by the cause or the code of the error. */
import { Alert, Button, Group, List, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ComponentType, type ReactNode, useCallback, useSyncExternalStore } from 'react';
import { ApiFault, type FaultPlace, type RefusedRequest } from '../api/client.ts';
import { sessionQuery } from '../app/session.ts';
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

interface FaultAlertProps {
  error: unknown;
  retry?: () => void;
  /** The inputs show their problems: a single problem is said without the name of its property. */
  inForm?: boolean;
}

/** An inline error with its invalid places and a retry button. */
export function FaultAlert({ error, retry, inForm = false }: FaultAlertProps) {
  const t = useText(texts);
  const say = useFaultText();
  const placeText = usePlaceText();
  if (error === null || error === undefined) return null;
  const fault = error instanceof ApiFault ? error : undefined;
  const refused = explicable(error);
  const only = inForm && fault?.places.length === 1 ? fault.places[0] : undefined;
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle size={18} />} role="alert">
      <Text size="sm">{only === undefined ? say(error) : problemMessage(only)}</Text>
      {fault !== undefined && only === undefined && fault.places.length > 0 && (
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
      {refused !== undefined && <WhyRefused request={refused} />}
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

export interface RefusalDialogProps {
  request: { user: string } & RefusedRequest;
  onClose: () => void;
}

type RefusalDialog = ComponentType<RefusalDialogProps>;

const refusals: {
  load?: () => Promise<RefusalDialog>;
  opened: { Dialog: RefusalDialog; request: RefusalDialogProps['request'] } | undefined;
  listeners: Set<() => void>;
} = { opened: undefined, listeners: new Set() };

/** Sets the dialog that explains refusals. It shows errors itself, so it cannot be imported here. */
export function onWhyRefused(load: () => Promise<RefusalDialog>): void {
  refusals.load = load;
}

function showRefusal(opened: typeof refusals.opened): void {
  refusals.opened = opened;
  for (const listener of refusals.listeners) listener();
}

function subscribe(listener: () => void): () => void {
  refusals.listeners.add(listener);
  return () => refusals.listeners.delete(listener);
}

/** The place in the page where refusals are explained. The dialog stays when the message with its button is gone. */
export function RefusalHost() {
  const opened = useSyncExternalStore(subscribe, () => refusals.opened);
  if (opened === undefined) return null;
  return <opened.Dialog request={opened.request} onClose={() => showRefusal(undefined)} />;
}

/** The refused request of an error that rights or the state of a record can explain. */
function explicable(error: unknown): RefusedRequest | undefined {
  return error instanceof ApiFault && [400, 403, 404, 409].includes(error.status) ? error.request : undefined;
}

/** Returns a function that formats an error for a short message, with the button that explains a refusal. */
export function useFaultNotice(): (error: unknown) => ReactNode {
  const say = useFaultText();
  return (error) => {
    const request = explicable(error);
    return (
      <>
        {say(error)}
        {request !== undefined && <WhyRefused request={request} />}
      </>
    );
  };
}

/** A button for administrators of roles that shows which checks refused the request. Its dialog is loaded on first use. */
export function WhyRefused({ request }: { request: RefusedRequest }) {
  const t = useText(texts);
  const { data: session } = useQuery({ ...sessionQuery, enabled: false });
  const userId = session?.user.id ?? null;
  if (userId === null || session?.rights.includes('role.assign') !== true) return null;
  const open = async (): Promise<void> => {
    const Dialog = await refusals.load?.();
    if (Dialog !== undefined) showRefusal({ Dialog, request: { user: userId, ...request } });
  };
  return (
    <Button size="compact-xs" variant="subtle" mt="xs" onClick={() => void open()}>
      {t.whyRefused}
    </Button>
  );
}
