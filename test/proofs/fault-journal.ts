/** The responses that clients got during a fault (`fault-workload.ts`). */

/** The expected content of a record according to its client's responses. */
export interface ExpectedRecord {
  revision: number;
  title: string;
  note: string | null;
  archived: boolean;
  /** True if `take` was the last transition. */
  taken: boolean;
}

export interface Known extends ExpectedRecord {
  id: string;
  tag: string;
  /** What an unanswered change may have made of it, or may yet: its statement can outlive the process that sent it. */
  perhaps: ExpectedRecord | undefined;
}

export interface WorkloadJournal {
  records: Known[];
  /** Rows of imports: tag → note. */
  imported: Map<string, string>;
  comments: { key: string; id: string; objectId: string }[];
  attachments: { key: string; id: string; objectId: string; sha256: string; size: number }[];
  relations: { id: string; sourceId: string; targetId: string }[];
  /** Answers that no fault of process or database excuses. */
  surprises: string[];
  /** Kind of write → how many were acknowledged. */
  acknowledged: Map<string, number>;
  refused: number;
  unanswered: number;
  /** Milliseconds until the slowest refusal. */
  slowest: number;
  /** Code of a refusal → how many. */
  codes: Map<string, number>;
}

export function newJournal(): WorkloadJournal {
  return {
    records: [],
    imported: new Map(),
    comments: [],
    attachments: [],
    relations: [],
    surprises: [],
    acknowledged: new Map(),
    refused: 0,
    unanswered: 0,
    slowest: 0,
    codes: new Map(),
  };
}
