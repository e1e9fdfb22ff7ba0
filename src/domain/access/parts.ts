/** What of access is made once in a service. */
import { ServicePart } from '../../platform/module.ts';
import { Authenticator } from './authenticate.ts';
import { SignIns } from './sign-in.ts';

export const authenticator = new ServicePart(
  'authentication',
  ({ db, versions, clock, replica }) =>
    new Authenticator({ db, versions, clock, onLoaded: async () => await replica?.advance() }),
);

export const signIns = new ServicePart('sign-ins', ({ secrets, db, clock }) => new SignIns({ secrets, db, clock }));
