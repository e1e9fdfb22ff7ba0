/** The ids of transitions, read from the workflow of records in the source state. */
import { type Client, granted } from './client.ts';
import { type Move, transitionCode } from './workflow.ts';

interface WorkflowAnswer {
  state: { id: string; code: string } | null;
  transitions: { id: string; code: string }[];
}

interface Exits {
  stateId: string;
  /** Id by code. */
  transitions: Map<string, string>;
}

export interface MoveIds {
  expectedStateId: string;
  transitionId: string;
}

/**
 * Ids stay the same for a code for ever, and no transition of the tracker has a condition: what one record of a state can do,
 * every other can, so that each state is read once.
 */
export class Moves {
  readonly #client: Client;
  readonly #exits = new Map<string, Exits>();

  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * @param id a record expected in the source state of the move
   * @param key of a user who may make the move
   * @returns undefined if the record is in another state or has no such transition
   */
  async idsOf(move: Move, id: string, key: string): Promise<MoveIds | undefined> {
    const exits = this.#exits.get(move.from) ?? (await this.#read(move.from, id, key));
    const transitionId = exits?.transitions.get(transitionCode(move));
    if (exits === undefined || transitionId === undefined) return undefined;
    return { expectedStateId: exits.stateId, transitionId };
  }

  async #read(from: string, id: string, key: string): Promise<Exits | undefined> {
    const call = { name: 'workflow', method: 'GET', path: `/api/v1/objects/${id}/workflow`, key } as const;
    const { state, transitions } = granted(call, await this.#client.call<WorkflowAnswer>(call));
    if (state?.code !== from) return undefined;
    const exits = { stateId: state.id, transitions: new Map(transitions.map((one) => [one.code, one.id])) };
    this.#exits.set(from, exits);
    return exits;
  }
}
