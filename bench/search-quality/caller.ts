/** A caller of the public interface who expects every call to succeed. */

interface Envelope<T> {
  data: T;
}

export class Caller {
  readonly #root: string;
  readonly #headers: Record<string, string>;

  constructor(port: number, key: string) {
    this.#root = `http://127.0.0.1:${port}/api/v1`;
    this.#headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  }

  async #call<T>(path: string, init: RequestInit): Promise<Envelope<T>> {
    const answer = await fetch(this.#root + path, { ...init, headers: this.#headers });
    const text = await answer.text();
    if (!answer.ok)
      throw new Error(`${init.method ?? 'GET'} ${path.slice(0, 200)} was answered ${answer.status}: ${text}`);
    return JSON.parse(text) as Envelope<T>;
  }

  async get<T>(path: string): Promise<Envelope<T>> {
    return await this.#call<T>(path, {});
  }

  async post<T>(path: string, body: unknown): Promise<Envelope<T>> {
    return await this.#call<T>(path, { method: 'POST', body: JSON.stringify(body) });
  }
}

/** Processes all items with limited concurrency, in order. */
export async function inParallel<T>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const workers = Array.from({ length: most }, async () => {
    for (const item of waiting) await work(item);
  });
  await Promise.all(workers);
}
