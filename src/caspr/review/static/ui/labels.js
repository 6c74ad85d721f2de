/** How mentions, chains, prices and operations are named and shown, wherever on the page. */
import { phrase, spaceBefore, spanOf } from "../state/tokens.js";
import { make } from "./dom.js";
/** @import { Store } from "../state/store.js" */
/** @import { ChainId, Decision, MentionId, Operation, Price, Sure } from "../state/types.js" */
/** @import { Child } from "./dom.js" */

const COLOURS = 12;
const CONTEXT = 9;
const LONGEST = 30;
const MOST_QUOTED = 3;
/** How many entities are named that an answer says are one. */
const MOST_ENTITIES = 6;

/** What labels need to know of the document, whoever makes them. */
export const lookup = {
  /**
   * Return the name of an entity, or nothing.
   * @type {(chain: ChainId) => string}
   */
  name: () => "",
  /**
   * Return the number of the line of a token, from 1, as the margin of the text has it.
   * @type {(token: number) => number}
   */
  line: () => 1,
};

/**
 * Return where a mention is: `line 12`, as the margin of the text has it.
 * @param {MentionId} id
 */
export const lineLabel = (id) => `line ${lookup.line(spanOf(id).start)}`;

/**
 * Return a number as one reads it: `2,713`.
 * @param {number} number
 */
export const grouped = (number) => number.toLocaleString("en");

/**
 * Return a number of things: `1 mention`, `2 mentions`.
 * @param {number} count
 * @param {string} thing
 */
export const counted = (count, thing) => `${grouped(count)} ${thing}${count === 1 ? "" : "s"}`;

/**
 * Return a difference with its sign.
 * @param {number} number
 */
export const signed = (number) => (number > 0 ? `+${number}` : number < 0 ? `−${-number}` : "±0");

const documents = document.querySelector(".documents-nav");
const places = documents instanceof HTMLElement ? documents.dataset : {};
/** How many answers a document gets in a round; 0 where there is only one document. */
export const roundSize = Number(places.round ?? 0);
/** The number of this document. */
export const place = places.index ?? "";

/**
 * Say how sure the result is about what a question asks.
 * @param {Sure & { kind: string }} sure
 */
export function sureText({ kind, markers, confidence, against, voters, tie }, inPart = 0) {
  const who = kind === "boundary" ? ` who ${markers ? "marked" : "saw"} it` : "";
  const partly = inPart ? `, ${inPart} only in part for it` : "";
  const votes = `${against || "none"} of ${voters}${who} against${partly}`;
  return `confidence ${confidence} % (${tie ? "a tie, " : ""}${votes})`;
}

/**
 * Say what deciding otherwise costs.
 * @param {Price} price
 */
export function describePrice({ price, exact, possible }) {
  if (!possible) return "is not possible";
  if (price === null) return "price not known";
  if (price === 0) return exact ? "costs the same" : "may cost the same";
  return exact ? `costs ${price} more` : `costs at least ${price} more`;
}

/**
 * Return a time of the server as a reader's clock and calendar have it.
 * @param {string | null} at
 */
export function shortTime(at) {
  const time = new Date(at ?? "");
  if (Number.isNaN(time.getTime())) return "";
  return time.toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" });
}

/**
 * Return what an entity is called where its number is shown: `3 (Sir William)`.
 * @param {ChainId} chain
 */
export function chainTitle(chain) {
  const name = lookup.name(chain);
  return name ? `${chain} (${name})` : chain;
}

/** @param {ChainId | null | undefined} chain */
export const inChain = (chain) => (chain == null ? "in no entity" : `in entity ${chainTitle(chain)}`);

/**
 * Return the CSS class of a chain's colour and line style: numbers that are close get hues far apart. The number
 * beside a mention says the same without colour.
 * @param {ChainId} chain
 */
export function colour(chain) {
  const number = Number(chain);
  if (Number.isInteger(number)) return `k${((number % COLOURS) + COLOURS) % COLOURS}`;
  let hash = 0;
  for (const character of chain) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 9973;
  return `k${hash % COLOURS}`;
}

/**
 * Make the coloured number of a chain, with the name of the entity if it has one.
 * @param {ChainId | null | undefined} chain
 */
export function chip(chain) {
  if (chain == null) return make("span", { class: "chip none" }, "–");
  const name = lookup.name(chain);
  const named = name ? make("bdi", { class: "entity-name", title: name }, ` ${name}`) : null;
  return make("span", { class: `chip ${colour(chain)}` }, chain, named);
}

/**
 * Return a sentence with the words of the text that it quotes, which may be written from right to left, isolated.
 * @param {string} sentence
 */
export const isolated = (sentence) =>
  sentence.split(/(?<=“)([^”]*)(?=”)/).map((part, i) => (i % 2 ? make("bdi", {}, part) : part));

/**
 * Return the first different words of the mentions of a chain.
 * @param {Store} store
 * @param {ChainId} chain
 */
export function gist(store, chain, most = 4) {
  const mentions = store.chain(chain)?.mentions ?? [];
  const words = [...new Set(mentions.slice(0, 40).map((id) => store.words(id, 40)))];
  return words.slice(0, most).join(" · ") + (words.length > most ? " …" : "");
}

/**
 * Return the chains whose number, name, type or words contain a text; exact numbers first.
 * @param {Store} store
 * @param {string} wanted
 */
export function matchingChains(store, wanted) {
  const text = wanted.trim().toLowerCase();
  /** @param {string} words */
  const matches = (words) => words.toLowerCase().includes(text);
  const matching = Object.entries(store.state.chains).filter(
    ([id, { name, type, mentions }]) =>
      id.toLowerCase().startsWith(text) ||
      matches(`${name} ${type}`) ||
      mentions.some((mention) => matches(store.words(mention, 200))),
  );
  const ids = matching.map(([id]) => id);
  /** @param {ChainId} id */
  const isExact = (id) => id.toLowerCase() === text;
  return [...ids.filter(isExact), ...ids.filter((id) => !isExact(id))];
}

/**
 * Show where a mention is; digits keep their order also among words written from right to left.
 * @param {MentionId} id
 */
export const lineTag = (id) => make("span", { class: "soft where" }, lineLabel(id));

/**
 * Make a snippet of the text around a mention, a button that leads to it; `go` is called with its id.
 * @param {Store} store
 * @param {MentionId} id
 * @param {(id: MentionId) => void} go
 */
export function snippet(store, id, go) {
  const { tokens } = store.state;
  const { start, end } = spanOf(id);
  const from = Math.max(1, start - CONTEXT);
  const to = Math.min(tokens.length, end + CONTEXT);
  const inside =
    end - start < LONGEST ? phrase(tokens, start, end) : `${phrase(tokens, start, start + LONGEST)} …`;
  const before =
    start > from ? phrase(tokens, from, start - 1) + spaceBefore(tokens[start - 2], tokens[start - 1]) : "";
  const after = end < to ? spaceBefore(tokens[end - 1], tokens[end]) + phrase(tokens, end + 1, to) : "";
  return link(
    "snippet",
    id,
    go,
    make("span", { class: "snippet-head" }, chip(store.mention(id)?.chain), lineTag(id)),
    make(
      "span",
      { class: "snippet-text", dir: "auto" },
      from > 1 ? "… " : "",
      before,
      make("mark", {}, inside),
      after,
      to < tokens.length ? " …" : "",
    ),
  );
}

/**
 * Make a small button with the words of a mention that leads to it.
 * @param {Store} store
 * @param {MentionId} id
 * @param {(id: MentionId) => void} go
 */
export const reference = (store, id, go) =>
  link("reference", id, go, make("bdi", {}, store.words(id, 40)), " ", lineTag(id));

/**
 * @param {string} kind
 * @param {MentionId} id
 * @param {(id: MentionId) => void} go
 * @param {...Child} children
 */
function link(kind, id, go, ...children) {
  const attributes = { type: "button", class: kind, title: "Show in the text" };
  const data = { focusKey: `${kind} ${id}` };
  return make("button", { ...attributes, data, on: { click: () => go(id) } }, ...children);
}

/**
 * Short names of what an operation decides; decisions are listed under the same ones.
 * @type {Record<Operation["do"], string>}
 */
export const LABELS = {
  together: "same",
  apart: "different",
  into: "in an entity",
  exists: "in some entity",
  mention: "a mention",
  alone: "alone",
  nested: "may share an entity",
  all: "several at once",
  name: "named",
  absent: "not a mention",
  empty: "no boundary",
  accept: "entity accepted",
  split: "a new entity",
  merge: "entities merged",
  new: "new mention",
  place: "not these",
  prefer: "boundary",
  move: "boundary moved",
  free: "taken back",
  rate: "category or confidence",
  note: "note",
  unnote: "note or flag deleted",
  done: "document done",
  reopen: "document open again",
  undo: "undo",
  redo: "redo",
};

/**
 * Describe an operation in a few words.
 * @param {Store} store
 * @param {Operation} op
 * @returns {string}
 */
export function describeOperation(store, op) {
  if (op.do === "all") {
    const parts = op.ops.slice(0, MOST_QUOTED).map((part) => describeOperation(store, part));
    if (op.ops.length > MOST_QUOTED) parts.push(`and ${op.ops.length - MOST_QUOTED} more`);
    return parts.join("; ");
  }
  const label = labelOf(op);
  if (op.do === "move") {
    return `${label}: “${store.words(op.mention, 30)}” → “${store.words(`${op.start}-${op.end}`, 30)}”`;
  }
  const ids = op.do === "place" ? oneOfEach(store, mentionsOf(op)) : mentionsOf(op);
  const most = op.do === "place" ? MOST_ENTITIES : MOST_QUOTED;
  const quoted = ids.slice(0, most).map((id) => `“${store.words(id, 30)}”`);
  const more = ids.length > most ? " …" : "";
  const said = quoted.length ? `${label}: ${quoted.join(", ")}${more}` : label;
  return op.do === "place" && label !== LABELS.place ? said + rejected(store, op.apart) : said;
}

/**
 * Leave one mention of each entity that an answer names, after the asked mention.
 * @param {Store} store
 * @param {MentionId[]} ids
 */
function oneOfEach(store, [asked, ...rest]) {
  /** @param {MentionId} id */
  const chainOf = (id) => store.mention(id)?.chain ?? id;
  const chains = rest.map(chainOf);
  return [asked, ...rest.filter((_, i) => chains.indexOf(chains[i]) === i)];
}

/**
 * Describe a decision in a few words.
 * @param {Store} store
 * @param {Decision} decision
 */
export function describeDecision(store, { kind, label, mentions }) {
  if (!(kind in LABELS) || !mentions.length) return label;
  const quoted = mentions.slice(0, MOST_QUOTED).map((id) => `“${store.words(id, 30)}”`);
  const name = LABELS[/** @type {keyof typeof LABELS} */ (kind)];
  return `${name} ${quoted.join(", ")}${mentions.length > MOST_QUOTED ? " …" : ""}`;
}

/**
 * Say which mentions an answer rejects, those of the other choices.
 * @param {Store} store
 * @param {MentionId[]} apart
 */
function rejected(store, apart) {
  if (!apart.length) return "";
  const words = apart.slice(0, MOST_QUOTED).map((id) => `“${store.words(id, 30)}”`);
  return `; different: ${words.join(", ")}${apart.length > MOST_QUOTED ? " …" : ""}`;
}

/** @param {Operation} op */
function labelOf(op) {
  if (op.do === "into") return inChain(op.chain);
  if (op.do === "note" && op.flag) return `flag ${op.flag}`;
  if (op.do === "name") return `entity ${chainTitle(op.chain)} named${op.name ? ` ${op.name}` : ""}`;
  if (op.do === "accept") return `entity ${chainTitle(op.chain)} accepted`;
  if (op.do === "merge") return `entities ${op.chains.map(chainTitle).join(", ")} merged`;
  if (op.do === "place" && op.chain) return inChain(op.chain);
  if (op.do === "place" && op.with.length) return LABELS.together;
  if (op.do === "place" && op.exists) return "a new entity";
  return LABELS[op.do];
}

/**
 * Return the mentions and tokens that an operation names.
 * @param {Operation} op
 * @returns {MentionId[]}
 */
function mentionsOf(op) {
  if ("mentions" in op) return op.mentions;
  if (op.do === "place") {
    // What it is apart from is named only where nothing else is said.
    const isOnlyApart = !op.with.length && !op.chain && !op.exists;
    return [op.mention, ...(isOnlyApart ? op.apart : op.with)];
  }
  if ("tokens" in op) return op.tokens.map((token) => `${token}-${token}`);
  if (op.do === "note") return op.mention === null ? [] : [op.mention];
  return op.do === "new" ? [`${op.start}-${op.end}`] : [];
}
