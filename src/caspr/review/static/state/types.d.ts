/**
 * The messages between page and server. `review/views.py`, `history.py`, `session.py` and `questions/`
 * make them; `tests/review/test_types.py` compares the fields.
 */

/** The tokens of a mention, counted from 1: `5-7`, or `5-5` for one token. */
export type MentionId = string;

export type ChainId = string;

export interface Mention {
  start: number;
  end: number;
  /** The chain of the result that it is in. */
  chain: ChainId | null;
  /** For each annotator the chain of their own that they put it into. */
  votes: (ChainId | null)[];
  /** Whether decisions enforce it or rule it out. */
  decision: "in" | "absent" | null;
  /** How many annotators marked it. */
  marked: number;
  /** Whether only the adjudicator marked it. */
  new: boolean;
}

export interface Chain {
  mentions: MentionId[];
  /** Whether all its mentions are enforced. */
  decided: boolean;
  /** What the entity is called, and of what type it is; empty if nobody said. */
  name: string;
  type: string;
}

export interface Cost {
  value: number;
  bound: number;
  status: "optimal" | "gap";
  omitted: number;
  used: number;
  invented: number;
  /** What rules of one's own charge. */
  rules: number;
  /** In an update: the value before it. */
  before?: number;
}

export type DecisionKind =
  | "enforced"
  | "cells"
  | "empty"
  | "together"
  | "entity"
  | "apart"
  | "exists"
  | "mention"
  | "alone"
  | "absent"
  | "nested"
  | "name";

export interface Decision {
  id: string;
  kind: DecisionKind;
  label: string;
  mentions: MentionId[];
  tokens: number[];
  chain: ChainId | null;
  /** What an entity is called; null if the annotators' votes decide. */
  name: string | null;
  type: string | null;
  /** Who decided it, and when in UTC; "editor" for what was written into the file by hand. */
  by: string | null;
  at: string | null;
  /** What kind of error it corrects; empty if nobody said. */
  category: string;
  confidence: "" | "low" | "medium" | "high";
}

/** Who works on a document, and until when in UTC unless they go on. */
export interface Lease {
  holder: string;
  until: string;
}

/** Who did something, and when. */
export interface Made {
  by: string | null;
  at: string | null;
}

export interface Note {
  id: string;
  /** None for a note on the document. */
  mention: MentionId | null;
  text: string;
  /** What the mention is flagged as, such as generic; empty for a note that is no flag. */
  flag: string;
  /** Who wrote it, and when in UTC. */
  by: string | null;
  at: string | null;
}

/** How many questions there are, and how many of them decisions answer. */
export interface Progress {
  asked: number;
  answered: number;
  /** How many answers were given. */
  answers: number;
}

/** What every state and every update contains. */
export interface Status {
  version: number;
  /** What undo and redo would take back or do again. */
  undo: string | null;
  /** Whether undo would bring annotators back as they were, which its key does not do. */
  annotators_changed: boolean;
  redo: string | null;
  progress: Progress;
  /** Whether the search for a better result is still running. */
  working: boolean;
  /** What is wrong with the file as it was edited outside. */
  problem: string | null;
}

/** What can differ between two snapshots of a document and is sent as a whole each time. */
export interface Short {
  cost: Cost;
  decisions: Decision[];
  /** Tokens at which no mention may start or end. */
  closed: number[];
  notes: Note[];
  /** Who has said that nothing is left to decide; null while the document is not done. */
  done: Made | null;
}

/** Everything about one document. */
export interface State extends Status, Short {
  title: string;
  tokens: string[];
  /** The tokens at which a line begins. */
  breaks: number[];
  annotators: string[];
  mentions: Record<MentionId, Mention>;
  chains: Record<ChainId, Chain>;
  /** Who of a team works on it; the server adds it to what the session says. */
  lease?: Lease | null;
}

/** A mention that an operation moved although it did not name it. */
export interface Change {
  mention: MentionId;
  from: ChainId | null;
  to: ChainId | null;
}

/** The difference between two versions; null stands for what is no more. */
export interface PartialUpdate extends Status, Short {
  full: false;
  mentions: Record<MentionId, Mention | null>;
  chains: Record<ChainId, Chain | null>;
  changed: Change[];
}

/** The document was replaced: the state must be fetched. */
export interface FullUpdate extends Status {
  full: true;
}

export type Update = PartialUpdate | FullUpdate;

/** The best value and bound of a running search. */
export interface SearchProgress {
  value: number | null;
  bound: number | null;
}

/** What the opposite of the present result costs. */
export interface Price {
  /** None if it is not known, or not possible. */
  price: number | null;
  /** Whether the price is exact, or only a lower bound. */
  exact: boolean;
  possible: boolean;
}

export type QuestionKind = "link" | "mention" | "boundary";

/** How sure the result is about what a question asks. */
export interface Sure {
  /** How many in a hundred decisions with such votes are right. */
  confidence: number;
  /** How many annotators say something else than the result, of how many who have a vote. */
  against: number;
  voters: number;
  /** Whether as many are for it as against it. */
  tie: boolean;
  /** Whether only those count who marked the mention: a boundary of it is in the result. */
  markers: boolean;
}

/** What the list shows of a question. */
export interface QuestionRow extends Sure {
  id: string;
  kind: QuestionKind;
  mention: MentionId;
  /** The chain of the result under which it is listed. */
  entity: ChainId | null;
}

export interface ComputedPrice extends Price {
  /** Whether the price was computed; otherwise that is still to come. */
  computed: boolean;
}

/** One answer: an entity, or a boundary. */
export interface Choice extends ComputedPrice {
  id: string;
  /** The chain of the result; null for an entity that the result lacks, and for a boundary. */
  chain: ChainId | null;
  /** The mention that represents the entity; the boundary itself. */
  anchor: MentionId;
  /** The mention whose words no other entity has, the most frequent and nearest; null if there is none. */
  telling: MentionId | null;
  /** The anchor, the doubts and the nearest mentions of the entity. */
  mentions: MentionId[];
  /** How many mentions the entity has besides the asked one. */
  size: number;
  /** Mentions that the asked one is different from if another entity is chosen. */
  doubts: MentionId[];
  /** The annotators who say so. */
  says: string[];
  /** The annotators who link the mention with some of the entity, but not with the doubts, or more with another one. */
  partly: string[];
  /** Whether the result says so. */
  now: boolean;
  /** The mentions that leave the entity with this answer, where that is known. */
  leaving: MentionId[];
  answer: Operation;
}

/** A question with its choices, as it was in one version of the document. */
export interface QuestionCard extends Sure {
  id: string;
  kind: QuestionKind;
  mention: MentionId;
  text: string;
  entity: ChainId | null;
  choices: Choice[];
  /** Who says that it is alone, that it is no mention, and who did not see it. */
  alone: string[];
  absent: string[];
  unseen: string[];
  /** What the result says. */
  now: "entity" | "alone" | "absent";
  /** What it costs that the mention is alone, or none, or of a new entity. */
  leave: ComputedPrice;
  /** Why the result is not what most annotators say, or what none of them says. */
  reason: string | null;
  /** Says: none of these. */
  none: Operation;
  /** Whether no decision answers it. */
  open: boolean;
  version: number;
}

/** Open questions that may be answered like one that was just answered. */
export interface Alike {
  /** Those about boundaries that differ by the same words, or by what one annotator marks; about the same words. */
  kind: "boundary" | "annotator" | "entity" | "absent";
  words: string;
  /** Whether boundaries differ at the beginning, and whether the longer one was chosen. */
  start: boolean;
  kept: boolean;
  /** The number of the annotator, and in how many words theirs differ. */
  annotator: number | null;
  length: number;
  /** How many questions it answers. */
  count: number;
  answer: Operation;
}

/** What is still at stake, and what the last steps changed. */
export interface Stakes {
  /** How many mentions the open questions are about. */
  mentions: number;
  /** On how many of them as many annotators are for the result as against it. */
  ties: number;
  /** How many of the last steps that decided something were looked at, and how many of them changed the result. */
  steps: number;
  changed: number;
  /** How many steps came since one changed it, and how many are enough to stop. */
  still: number;
  enough: number;
}

export interface Questions extends Progress {
  questions: QuestionRow[];
  /** How many questions the filter lets through. */
  found: number;
  version: number;
  stakes: Stakes;
}

export interface Vote {
  annotator: string;
  /** Where the annotator marked it: another boundary of the same mention, or the same. */
  boundary: MentionId;
  chain: ChainId;
  /** What the annotator calls the entity; empty for nothing. */
  name: string;
  with: MentionId[];
}

/** A chain of the result that some annotator linked a mention with. */
export interface Alternative extends Price {
  chain: ChainId;
  evidence: number;
  with: MentionId;
  now: boolean;
}

/** Who voted how on a mention, and where else it could be. */
export interface Explanation {
  votes: Vote[];
  alternatives: Alternative[];
}

/** What the page asks the server to do; `review/operations/` says what each means. */
export type Operation =
  | {
      do: "together" | "apart" | "exists" | "mention" | "alone" | "nested" | "absent" | "split";
      mentions: MentionId[];
    }
  | { do: "into"; mentions: MentionId[]; chain: ChainId }
  | { do: "name"; chain: ChainId; name?: string; type?: string }
  | {
      do: "place";
      mention: MentionId;
      with: MentionId[];
      apart: MentionId[];
      chain?: ChainId;
      exists?: boolean;
    }
  | { do: "prefer"; mentions: MentionId[]; over: MentionId[]; with?: MentionId[] }
  | { do: "empty"; tokens: number[] }
  | { do: "accept"; chain: ChainId }
  | { do: "merge"; chains: ChainId[]; called?: ChainId }
  | { do: "new"; start: number; end: number; chain: ChainId | null }
  | { do: "move"; mention: MentionId; start: number; end: number }
  | { do: "free"; decisions: string[] }
  | { do: "rate"; decisions: string[]; category?: string; confidence?: string }
  | { do: "note"; mention: MentionId | null; text: string; flag?: string }
  | { do: "unnote"; id: string }
  | { do: "done" | "reopen" }
  | { do: "all"; ops: Operation[] }
  | { do: "undo" | "redo" };

/** What can be done instead of a refused operation: an operation, or one that puts a mention into a chosen chain. */
export interface Remedy {
  label: string;
  op: Operation | null;
  choose: MentionId | null;
}
