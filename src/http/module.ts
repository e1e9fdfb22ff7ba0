/** What modules need of the HTTP layer: the validation of requests, and requests that are described as data. */
import { describedRequests, inputReader, type Module } from '../platform/module.ts';
import { DescribedRequests } from './described-requests.ts';
import { inputReader as readerOf } from './validate.ts';

export const http: Module = {
  name: 'http',
  provides: [
    inputReader.by(() => readerOf),
    describedRequests.by((service) => {
      const requests = new DescribedRequests(() => service.operations);
      return (request) => requests.find(request);
    }),
  ],
};
