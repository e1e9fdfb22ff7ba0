/** Calendars, with a view of the year under the edited configuration. */
import { configPage } from '../config/config-screen.tsx';
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

export default configPage({
  section: 'calendars',
  screen: 'calendars',
  texts,
  template: TEMPLATE,
  form: CalendarForm,
  aside: YearView,
  asideAbove: true,
});
