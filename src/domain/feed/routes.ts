import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import { readChanges } from './contract.ts';
import { readFeed } from './queries.ts';

export const feedRoutes: readonly BoundOperation[] = [
  bind(readChanges, ({ work, caller }, { query }, request) =>
    work.read(caller, (ctx) => readFeed(ctx, query, request)),
  ),
];
