/** What of access is made once in a service. */
import { Part } from '../../platform/module.ts';
import { Authenticator } from './authenticate.ts';
import { SignIns } from './sign-in.ts';

export const authenticator = new Part(
  'authentication',
  ({ db, versions, clock, replica }) =>
    new Authenticator({ db, versions, clock, onLoaded: async () => await replica?.advance() }),
);

export const signIns = new Part('sign-ins', ({ secrets, db, clock }) => new SignIns({ secrets, db, clock }));
