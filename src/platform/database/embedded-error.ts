/** An error of the embedded database at start, takeover or stop. Its message is one sentence for the user. */
export class EmbeddedError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'EmbeddedError';
  }
}
