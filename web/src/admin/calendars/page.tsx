/** Calendars, with a view of the year under the edited configuration. */
import { useText } from '../../i18n/text.ts';
import { ConfigScreen } from '../config/config-screen.tsx';
import type { ScreenProps } from '../../ui/page.tsx';
import { CalendarForm } from './calendar-form.tsx';
import { texts } from './texts.ts';
import { YearView } from './year-view.tsx';

const TEMPLATE = `code: office
timezone: Europe/Moscow
week:
  mon: ['09:00-18:00']
  tue: ['09:00-18:00']
  wed: ['09:00-18:00']
  thu: ['09:00-18:00']
  fri: ['09:00-18:00']
exceptions: []
`;

export default function CalendarsPage({ path }: ScreenProps) {
  const t = useText(texts);
  return (
    <ConfigScreen
      section="calendars"
      screen="calendars"
      path={path}
      title={t.title}
      hint={t.hint}
      newTitle={t.newOne}
      template={TEMPLATE}
      form={CalendarForm}
      aside={YearView}
      asideAbove
    />
  );
}
