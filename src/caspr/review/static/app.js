/**
 * The page: its parts, what needs several of them, and how it starts.
 *
 *   server --> Store --> text, matrix, panels              what is shown
 *   keys, pointer --> Navigation --> Selection --> text    where the reader is
 *   keys, buttons --> Actions --> Api --> server           what is done
 *
 * Nothing is shown as decided before the server acknowledged that it is on the disk.
 */
import { Actions, showSelectionBar } from "./input/actions.js";
import { listenToKeys, showKeys } from "./input/keys.js";
import { Navigation } from "./input/navigation.js";
import { listenToPointer } from "./input/pointer.js";
import { Chains } from "./panels/chains.js";
import { DecisionList } from "./panels/decisions.js";
import { Header } from "./panels/header.js";
import { LastChange } from "./panels/last_change.js";
import { Matrix } from "./panels/matrix.js";
import { Detail } from "./panels/mention.js";
import { Announcer, serverEvents, showProblem, showRefusal } from "./panels/messages.js";
import { QuestionQueue } from "./questions/queue.js";
import { Api, Refusal, hideNames, namesAreHidden, withoutNames } from "./state/api.js";
import { Selection } from "./state/selection.js";
import { Store } from "./state/store.js";
import { nearest, spanOf } from "./state/tokens.js";
import { Minimap } from "./text/minimap.js";
import { listenToPrint } from "./text/print.js";
import { TextSearch } from "./text/search.js";
import { TextView } from "./text/text_view.js";
import { Sentence, Versions } from "./text/versions.js";
import { askText } from "./ui/dialogs.js";
import { byId, find } from "./ui/dom.js";
import { describeOperation, lineLabel, lookup } from "./ui/labels.js";
import { closeMenu, listenToMenus } from "./ui/menus.js";
import { Tabs } from "./ui/tabs.js";
/** @import { SelectionChange } from "./state/selection.js" */
/** @import { StoreChange } from "./state/store.js" */
/** @import { ChainId, Decision, MentionId, Operation, State } from "./state/types.js" */

const NEARBY_TOKENS = 300;
const MOST_NEARBY = 12;

export class App {
  /**
   * Operations that were requested while the server did not answer.
   * @type {Operation[]}
   */
  unsaved = [];

  /** @param {State} state */
  constructor(state) {
    this.announcer = new Announcer();
    this.store = new Store(withoutNames(state));
    this.selection = new Selection();
    this.api = new Api(this.store, serverEvents(this));
    this.actions = new Actions(this);
    this.navigation = new Navigation(this);
    this.api.names = state.annotators;
    lookup.name = (chain) => this.store.chain(chain)?.name ?? "";
    lookup.line = (token) => this.text.lineOf(token) + 1;
    this.text = new TextView(byId("text"), this.store, this.selection);
    this.search = new TextSearch(this);
    this.minimap = new Minimap(byId("minimap", HTMLCanvasElement), this);
    this.header = new Header(this);
    this.lastChange = new LastChange(byId("last-change"), this);
    this.queue = new QuestionQueue(byId("queue"), this);
    this.sentence = new Sentence(byId("sentence"), this);
    this.detail = new Detail(byId("detail"), this);
    this.chains = new Chains(byId("chains"), this);
    this.decisions = new DecisionList(byId("decisions"), this);
    this.matrix = new Matrix(byId("matrix"), this);
    this.versions = new Versions(byId("versions"), this);
    this.view = new Tabs(byId("view-tabs"), (panel) => {
      this.matrix.show(panel === "matrix");
      this.versions.show(panel === "versions");
      this.minimap.draw();
    });
    this.side = new Tabs(byId("side-tabs"), (panel) => {
      this.detail.show(panel === "detail");
      this.chains.show(panel === "chains");
      this.decisions.show(panel === "decisions");
    });
  }

  /** @type {Announcer["say"]} */
  say = (text, options) => this.announcer.say(text, options);

  /**
   * Go to a mention in the text, with the keyboard.
   * @param {MentionId} id
   */
  goTo = (id) => this.selection.goTo(id, { focus: true });

  /**
   * Send an operation; return the update, or null when it was not done and the reason is shown. `chosen` are the
   * words of the entity that an answer chooses.
   * @param {Operation} op
   */
  async act(op, { chosen = "" } = {}) {
    // What is merged or taken back has no name afterwards.
    const words = describeOperation(this.store, op);
    this.queue.onStep();
    try {
      const { update, before } = await this.api.send(op);
      this.announcer.hideWarning();
      const isUndo = op.do === "undo" || op.do === "redo";
      this.lastChange.begin(this.#labelOf(op, words, before), update, before, {
        isUndo,
        about: placedBy(op),
        chosen,
        replaced: isUndo || op.do === "free" ? [] : replaced(before, this.store.state),
      });
      this.lastChange.searching = update.working;
      this.header.costBefore = this.lastChange.costBefore;
      this.header.showStatus();
      this.say(this.lastChange.summary, { quiet: true });
      if (op.do === "undo") this.queue.onUndone();
      else this.queue.onTaken();
      if (!isUndo && op.do !== "name" && !("called" in op)) this.#sayLostNames(before);
      return update;
    } catch (error) {
      this.queue.onStep(false);
      showRefusal(this, op, error instanceof Refusal ? error : new Refusal("failed", String(error)));
      return null;
    }
  }

  /**
   * Say which names no entity has any more, for example because two that have names became one.
   * @param {State} before
   */
  #sayLostNames(before) {
    const names = (/** @type {State} */ { chains }) => Object.values(chains).map(({ name }) => name);
    const now = new Set(names(this.store.state));
    const lost = [...new Set(names(before))].filter((name) => name && !now.has(name));
    if (!lost.length) return;
    const listed = lost.map((name) => `“${name}”`).join(", ");
    this.say(`No entity is called ${listed} any more. Press u to undo.`);
  }

  /**
   * @param {Operation} op
   * @param {string} words
   * @param {State} before
   */
  #labelOf(op, words, before) {
    if (op.do === "undo") return `Undone: ${before.undo}`;
    if (op.do === "redo") return `Redone: ${before.redo}`;
    return words[0].toUpperCase() + words.slice(1);
  }

  /**
   * Highlight a chain everywhere; without one, that of the current mention.
   * @param {ChainId | null} [chain]
   */
  highlight(chain) {
    const highlighted = chain ?? this.store.mention(this.selection.mention)?.chain ?? null;
    this.text.highlight(highlighted);
    this.minimap.highlight(highlighted);
  }

  /**
   * Return chains near a mention, the nearest first.
   * @param {MentionId} id
   */
  nearbyChains(id) {
    const { order } = this.store;
    const { start } = spanOf(id);
    const near = order.filter((mention) => Math.abs(spanOf(mention).start - start) < NEARBY_TOKENS);
    const chains = nearest(near, id, near.length).map((mention) => this.store.mention(mention)?.chain);
    return [...new Set(chains.filter((chain) => chain != null))].slice(0, MOST_NEARBY);
  }

  /** Return whether mentions that are in no chain are shown. */
  showsLeftOut() {
    return byId("show-left-out", HTMLInputElement).checked;
  }

  toggleLeftOut() {
    byId("show-left-out").click();
  }

  openDetail({ focus = false } = {}) {
    this.side.show("detail", { focus });
  }

  openLastChange() {
    const root = byId("last-change");
    if (root.hidden) this.say("You have not made a step yet.");
    else (find(root, "li button") ?? find(root, "button"))?.focus();
  }

  openExport() {
    const menu = byId("export", HTMLDetailsElement);
    menu.open = true;
    find(menu, "a")?.focus();
  }

  /** @param {ChainId | null} chain the one to unfold */
  openChains(chain = null) {
    this.side.show("chains", { focus: chain === null });
    if (chain !== null) this.chains.unfold(chain);
  }

  /** Open the chains with the keyboard in their search. */
  searchChains() {
    this.side.show("chains");
    find(byId("chains"), "input[type=search]")?.focus();
  }

  /** Show the next view: text, matrix, versions. */
  switchView() {
    const views = ["text", "matrix", "versions"];
    this.view.show(views[(views.indexOf(this.view.open ?? "") + 1) % views.length]);
  }

  askToken() {
    const label = `Token number, 1 to ${this.store.state.tokens.length}`;
    askText("Go to a token", label, (text) => this.navigation.toToken(Number(text)), { number: true });
  }

  cancelSearch() {
    if (this.store.state.working) this.api.cancel().catch(() => {});
    else this.say("No search is running.");
  }

  /**
   * Show in the text what a decision is about.
   * @param {Decision} decision
   */
  showDecision({ mentions, tokens }) {
    const known = mentions.filter((id) => this.store.mention(id));
    if (known.length) {
      this.selection.select(known.length > 1 ? known : []);
      this.goTo(known[0]);
    } else if (tokens.length) {
      this.selection.setRange({ anchor: tokens[0], head: tokens[tokens.length - 1] });
      this.text.focusToken(tokens[0]);
    }
  }

  /** Close the open menu, else deselect what is selected, else return to the text. */
  escape() {
    const { selection, navigation } = this;
    if (closeMenu()) return;
    if (navigation.leaveBoundary()) this.say("The boundary stays as it was.", { quiet: true });
    else if (selection.range) navigation.leaveRange();
    else if (selection.selected.size) {
      selection.select([]);
      this.say("Nothing is selected.", { quiet: true });
    } else if (this.view.open === "matrix") this.matrix.focus();
    else if (selection.mention) this.goTo(selection.mention);
    else if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  }
}

/**
 * Return what somebody had decided before a step and what is not decided any more after it.
 * @param {State} before
 * @param {State} after
 */
function replaced(before, after) {
  const left = new Set(after.decisions.flatMap(({ id, label }) => [id, label]));
  return before.decisions.filter(
    ({ id, kind, label }) => kind !== "entity" && kind !== "name" && !left.has(id) && !left.has(label),
  );
}

/**
 * Return the mention that an operation places, or whose boundary it decides.
 * @param {Operation} op
 * @returns {MentionId | null}
 */
function placedBy(op) {
  if (op.do === "place") return op.mention;
  return op.do === "prefer" && op.mentions.length === 1 ? op.mentions[0] : null;
}

const app = new App(JSON.parse(byId("state").textContent));

/**
 * @param {StoreChange} change
 * @param {State} old
 */
function onStoreChange(change, old) {
  app.selection.keepOnly((id) => app.store.mention(id) !== null);
  if (change.rebuild) {
    app.selection.setRange(null);
    app.text.render();
    app.search.refresh();
  } else app.text.update(change, old);
  app.highlight();
  app.matrix.update(change);
  app.versions.refresh();
  app.sentence.render();
  app.detail.refresh();
  app.chains.refresh();
  app.decisions.refresh();
  app.header.show();
  showProblem(app, old.problem);
  app.minimap.draw();
  app.queue.load();
}

/** @param {SelectionChange} change */
function onSelectionChange(change) {
  const { mention } = app.selection;
  app.text.onSelection(change);
  if (change.moved) {
    app.matrix.showCurrent();
    app.sentence.render();
    app.detail.refresh();
    app.highlight();
    app.minimap.draw();
    byId("here").textContent = mention ? `${lineLabel(mention)} of ${app.text.lineCount}` : "";
  }
  showSelectionBar(app);
}

function listenToButtons() {
  byId("undo").addEventListener("click", () => app.actions.undo());
  byId("redo").addEventListener("click", () => app.actions.redo());
  byId("keys").addEventListener("click", () => showKeys(app));
  byId("show-left-out").addEventListener("change", () =>
    app.text.root.classList.toggle("hide-left-out", !app.showsLeftOut()),
  );
  const blind = byId("blind", HTMLInputElement);
  blind.checked = namesAreHidden();
  blind.addEventListener("change", () => {
    hideNames(blind.checked);
    // Whatever is on the page may have names in it.
    location.reload();
  });
}

listenToMenus();
app.store.subscribe(onStoreChange);
app.selection.subscribe(onSelectionChange);
listenToButtons();
listenToPointer(app);
listenToPrint(app.store);
listenToKeys(app);
app.header.show();
showProblem(app);
app.queue.load(0);
app.api.listen();
document.documentElement.dataset.ready = "yes";
