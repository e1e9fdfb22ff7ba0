/** Makes the notifications of all committed events, as the background task does. */
import { Authenticator } from '../../src/domain/access/index.ts';
import { makeNotifications, type MakerParts } from '../../src/domain/notifications/make.ts';
import { givePlaces } from '../../src/platform/journal/places.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { TestApp } from './app.ts';

export function testAuthenticator({ db, app }: TestApp): Authenticator {
  return new Authenticator({ db, versions: app.versions, clock: systemClock });
}

export async function notifyAll(
  { app, db }: TestApp,
  authenticator: Authenticator,
  options: Partial<Omit<MakerParts, 'actorsOf'>> = {},
): Promise<void> {
  while (await givePlaces(db));
  await app.versions.refresh();
  const parts = { actorsOf: (ids: readonly string[]) => authenticator.actorsOf(ids), sendsMail: false, ...options };
  for (let more = true; more; ) {
    const made = await app.work.write(app.system(), (ctx) => makeNotifications(ctx, parts));
    more = made.kind === 'done' && made.data;
  }
}
