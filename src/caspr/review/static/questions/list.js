/** The list of questions, grouped by entity, with order, filters, and what is still at stake. */
import { chip } from "../ui/chain_label.js";
import { button, make, menu } from "../ui/dom.js";
import { counted } from "../ui/words.js";
import { entityWords } from "./card.js";
/** @import { App } from "../app.js" */
/** @import { QuestionPlace } from "./place.js" */
/** @import { ChainId, MentionId, QuestionRow, Questions, Stakes } from "../state/types.js" */

const ORDERS = { valuable: "most valuable first", text: "in text order", entity: "entity by entity" };
const KINDS = { "": "all kinds", link: "entities", mention: "mentions", boundary: "boundaries" };
const TAGS = { link: "entity", mention: "mention", boundary: "boundary" };
const FEW = 2;

/**
 * @typedef {object} ListActions
 * @property {(row: QuestionRow) => unknown} ask
 * @property {(chain: ChainId, mentions: MentionId[]) => unknown} acceptGroup
 * @property {() => unknown} changed
 * @property {() => unknown} showMore
 */

/**
 * Make the menus of order and filters.
 * @param {App} app
 * @param {QuestionPlace} place
 * @param {ListActions} actions
 */
export function questionFilters(app, place, actions) {
  const { annotators } = app.store.state;
  /** @type {(name: string, field: "order" | "annotator" | "kind", labels: Record<string, string>) => HTMLElement} */
  const choose = (name, field, labels) => {
    const made = menu(name, labels, () => {
      place.change({ [field]: made.value });
      actions.changed();
    });
    made.value = place.now[field] in labels ? place.now[field] : "";
    made.dataset.focusKey = `filter ${field}`;
    return made;
  };
  const disagreeing = Object.fromEntries(annotators.map((name) => [name, `${name} disagrees`]));
  const box = make("input", { type: "checkbox", data: { focusKey: "filter overruled" } });
  box.checked = place.now.overruled;
  box.addEventListener("change", () => {
    place.change({ overruled: box.checked });
    actions.changed();
  });
  const { entity } = place.now;
  return make(
    "div",
    { class: "question-filters", role: "group", "aria-label": "Order and filter" },
    choose("Order of questions", "order", ORDERS),
    choose("Kind of question", "kind", KINDS),
    choose("Annotator", "annotator", { "": "all annotators", ...disagreeing }),
    make("label", { class: "check" }, box, "result overrules the majority"),
    entity && app.store.chain(entity)
      ? make(
          "span",
          { class: "only-entity" },
          "only ",
          make("bdi", {}, entityWords(app, entity)),
          button(
            "×",
            () => {
              place.change({ entity: "" });
              actions.changed();
            },
            { kind: "quiet", name: "Show the questions of all entities" },
          ),
        )
      : null,
  );
}

/**
 * Say why there is no card.
 * @param {boolean} isRead whether the questions were read
 * @param {QuestionPlace} place
 */
export function emptyText(isRead, place) {
  if (!isRead) return make("p", { class: "empty" }, "Reading the questions …");
  const text = place.isFiltered
    ? "The filter lets no open question through."
    : "No open question. What the annotators agree on is not asked; you can still decide about any mention in the text.";
  return make("p", { class: "empty" }, text);
}

/**
 * Say what is still at stake, and offer to accept the rest.
 * @param {App} app
 * @param {Questions} read
 */
export function stakesText(app, { stakes }) {
  const { done } = app.store.state;
  if (done) {
    return make(
      "section",
      { class: "stakes", "aria-label": "When to stop" },
      make("p", {}, "This document is done. You can still answer questions; that opens it again."),
    );
  }
  return make(
    "section",
    { class: "stakes", "aria-label": "When to stop" },
    make("p", {}, remaining(stakes)),
    stakes.steps ? make("p", {}, recent(stakes)) : null,
    make(
      "div",
      { class: "buttons" },
      button(stakes.mentions ? "Accept the rest" : "The document is done", () => app.act({ do: "done" }), {
        focusKey: "accept the rest",
        title: "The result stands as it is; the document is marked as done",
      }),
    ),
  );
}

/** @param {Stakes} stakes */
function remaining({ mentions, ties, close, clear, most }) {
  if (!mentions) return "No mention is disputed any more.";
  const parts = [
    ties ? `${counted(ties, "tie")}` : "",
    close ? `${close.toLocaleString("en")} close` : "",
    clear ? `${clear.toLocaleString("en")} clear` : "",
  ].filter(Boolean);
  const are = mentions === 1 ? "is" : "are";
  const price = most
    ? `Deciding one of them otherwise costs at most ${most.toLocaleString("en")} more.`
    : "All can be decided otherwise at the same cost.";
  return `${counted(mentions, "mention")} ${are} still disputed (${parts.join(", ")}); answers move at most these. ${price}`;
}

/** @param {Stakes} stakes */
function recent({ steps, changed }) {
  if (steps === 1) {
    return changed ? "The last step changed the result." : "The last step changed nothing.";
  }
  return `Of the last ${steps} steps, ${changed || "none"} changed the result.`;
}

/**
 * Make the list, with the questions of one entity together.
 * @param {App} app
 * @param {QuestionRow[]} rows
 * @param {number} most how many are shown
 * @param {number} found how many there are
 * @param {string | null} current
 * @param {QuestionPlace} place
 * @param {ListActions} actions
 */
export function questionList(app, rows, most, found, current, place, actions) {
  /** @type {Map<string, QuestionRow[]>} */
  const groups = new Map();
  for (const row of rows.slice(0, most)) {
    const key = row.entity ?? "";
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  const left = found - Math.min(most, rows.length);
  return make(
    "nav",
    { "aria-label": "All questions", class: "question-list" },
    make("h3", {}, `All questions (${found.toLocaleString("en")})`),
    ...[...groups].map(([entity, inside]) => group(app, entity, inside, current, place, actions)),
    rows.length > most
      ? button(`Show more (${left.toLocaleString("en")})`, actions.showMore, { kind: "quiet" })
      : null,
    rows.length <= most && left > 0
      ? make("p", { class: "soft" }, `${left.toLocaleString("en")} more follow when these are answered.`)
      : null,
  );
}

/**
 * @param {App} app
 * @param {ChainId} entity empty for no entity
 * @param {QuestionRow[]} rows
 * @param {string | null} current
 * @param {QuestionPlace} place
 * @param {ListActions} actions
 */
function group(app, entity, rows, current, place, actions) {
  const mentions = rows.filter(({ kind }) => kind !== "boundary").map(({ mention }) => mention);
  const known = entity && app.store.chain(entity);
  const words = known ? entityWords(app, entity) : "";
  const only = () => {
    place.change({ entity });
    actions.changed();
  };
  return make(
    "section",
    { class: "question-group" },
    make(
      "div",
      { class: "group-head" },
      known ? chip(entity) : null,
      make("bdi", { class: "words" }, known ? words : "in no entity"),
      known && place.now.entity !== entity
        ? button("Only these", only, { kind: "quiet", name: `Only questions about ${words}` })
        : null,
    ),
    make("ol", {}, ...rows.map((row) => item(app, row, row.id === current, actions))),
    known && mentions.length >= FEW
      ? button(`All ${mentions.length} belong to ${words}`, () => actions.acceptGroup(entity, mentions), {
          kind: "quiet batch",
          focusKey: `batch ${entity}`,
        })
      : null,
  );
}

/**
 * @param {App} app
 * @param {QuestionRow} row
 * @param {boolean} isCurrent
 * @param {ListActions} actions
 */
function item(app, row, isCurrent, actions) {
  return make(
    "li",
    {},
    make(
      "button",
      {
        type: "button",
        "aria-current": isCurrent ? "true" : null,
        data: { focusKey: `question ${row.id}` },
        on: { click: () => actions.ask(row) },
      },
      make("span", { class: row.tie ? "tag tie" : "tag" }, row.tie ? "tie" : TAGS[row.kind]),
      make("bdi", { class: "words" }, app.store.words(row.mention, 40)),
      make("span", { class: "soft", title: "annotators who marked it" }, `${row.marked} of ${row.seen}`),
    ),
  );
}
