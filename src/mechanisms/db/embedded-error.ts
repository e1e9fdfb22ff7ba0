/** What went wrong with the embedded database, as one clear sentence for a person: start, adoption or stop. */
export class EmbeddedError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'EmbeddedError';
  }
}
