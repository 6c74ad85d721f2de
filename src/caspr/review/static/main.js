/**
 * Put the page together.
 *
 *   state --> Store --> text, matrix, panels        what is shown
 *   keys, pointer --> moves, actions --> Api        what is done; the answer goes to the Store
 *
 * Nothing is shown as decided before the server said that it is on disk.
 */
import { actionsOf } from "./input/actions.js";
import { say, unbanner } from "./ui/announce.js";
import { Api } from "./state/api.js";
import { Chains } from "./panels/chains.js";
import { showChosen } from "./panels/selection_bar.js";
import { Decided, noteItem } from "./panels/decisions.js";
import { Detail } from "./panels/detail.js";
import { askText } from "./ui/dialog.js";
import { byId } from "./ui/dom.js";
import { help, listen } from "./input/keys.js";
import { Matrix } from "./panels/matrix.js";
import { followPointer, movesOf } from "./input/moves.js";
import { hearing, refuse, showProblem } from "./state/updates.js";
import { Overview } from "./text/minimap.js";
import { Queue } from "./panels/queue.js";
import { Spot } from "./state/selection.js";
import { showStatus, showWorking } from "./panels/status.js";
import { described, Step } from "./panels/last_change.js";
import { Store } from "./state/store.js";
import { Tabs } from "./ui/tabs.js";
import { TextView } from "./text/text_view.js";
import { where } from "./ui/words.js";

const store = new Store(JSON.parse(byId("state").textContent));
const spot = new Spot();
const app = {
  store,
  spot,
  say,
  cost: { before: null },
  /** Operations that were asked for while the server did not answer. */
  unsaved: [],
  help: () => help(app),
  noteItem: (note) => noteItem(app, note),
};

/** Send an operation; answer the update, or nothing when it did not go through and the reader was told. */
app.act = async (op) => {
  try {
    const { update, before } = await app.api.send(op);
    unbanner("warning");
    app.cost.before = update.cost?.before ?? before.cost.value;
    app.step.begin(labelOf(op, before), before.chains, app.cost.before);
    app.step.add(update.changed ?? []);
    app.step.goesOn = update.working === true;
    showStatus(app);
    say(app.step.summary, { quiet: true });
    return update;
  } catch (refusal) {
    refuse(app, refusal);
    return null;
  }
};

function labelOf(op, before) {
  if (op.do === "undo") return `Undone: ${before.undo}`;
  if (op.do === "redo") return `Redone: ${before.redo}`;
  const text = described(store, op);
  return text[0].toUpperCase() + text.slice(1);
}

/** Highlight a chain everywhere; without one, that of the current mention. */
app.light = (chain = null) => {
  const lit = chain ?? store.mention(spot.mention)?.chain ?? null;
  app.text.light(lit);
  app.map.light(lit);
};

/** Chains near a place, the nearest first, to be offered first. */
app.nearby = (id) => {
  const at = Number(id.split("-")[0]);
  const near = store.order.filter(
    (one) => Math.abs(store.mention(one).start - at) < 300 && store.mention(one).chain !== null,
  );
  near.sort(
    (one, other) => Math.abs(store.mention(one).start - at) - Math.abs(store.mention(other).start - at),
  );
  return [...new Set(near.map((one) => store.mention(one).chain))].slice(0, 12);
};

app.showsOut = () => byId("show-out").checked;
app.toggleOut = () => byId("show-out").click();
app.openDetail = (options = {}) => app.side.show("detail", options);
app.openStep = () =>
  byId("step").hidden
    ? say("No step was made yet.")
    : (byId("step").querySelector("li button") ?? byId("step").querySelector("button")).focus();
app.openExport = () => {
  byId("export").open = true;
  byId("export").querySelector("a").focus();
};
app.openChains = (chain = null) => {
  app.side.show("chains", { focus: chain === null });
  if (chain !== null) app.chains.unfold(chain);
};
app.switchView = () => app.view.show(app.view.open === "text" ? "matrix" : "text", { focus: false });
app.askToken = () =>
  askText(
    "Go to a token",
    `Number of the token, 1 to ${store.state.tokens.length}`,
    (text) => app.moves.goTo(Number(text)),
    { number: true },
  );
app.startRange = () => app.moves.start();
app.cancel = () => (store.state.working ? app.api.cancel().catch(() => {}) : say("Nothing is running."));

/** Lead to what a decision is about. */
app.showDecision = (decision) => {
  const known = decision.mentions.filter((id) => store.mention(id));
  if (known.length) {
    spot.select(known.length > 1 ? known : []);
    spot.go(known[0], { focus: true });
  } else if (decision.tokens.length)
    spot.choose({ anchor: decision.tokens[0], head: decision.tokens.at(-1) });
  if (!known.length && decision.tokens.length) app.text.focusToken(decision.tokens[0]);
};

/** Escape: close what is open, let go of what is chosen, and go back to the text. */
app.letGo = () => {
  if (byId("export").open) {
    byId("export").open = false;
    byId("export").querySelector("summary").focus();
    return;
  }
  if (spot.range) {
    app.moves.leave();
    return;
  }
  if (spot.selected.size) {
    spot.select([]);
    say("Nothing is selected.", { quiet: true });
    return;
  }
  if (app.view.open === "matrix") app.matrix.focus();
  else if (spot.mention) spot.go(spot.mention, { focus: true });
  else document.activeElement?.blur();
};

function build() {
  app.text = new TextView(byId("text"), store, spot);
  app.map = new Overview(byId("map"), app);
  app.api = new Api(store, hearing(app));
  app.actions = actionsOf(app);
  app.moves = movesOf(app);
  app.step = new Step(byId("step"), app);
  app.queue = new Queue(byId("queue"), app);
  app.detail = new Detail(byId("detail"), app);
  app.chains = new Chains(byId("chains"), app);
  app.decided = new Decided(byId("decisions"), app);
  app.matrix = new Matrix(byId("matrix"), app);
  const [views, sides] = document.querySelectorAll("[data-tabs]");
  app.view = new Tabs(views, (id) => {
    app.matrix.show(id === "matrix");
    app.map.draw();
  });
  app.side = new Tabs(sides, (id) => {
    app.detail.show(id === "detail");
    app.chains.show(id === "chains");
    app.decided.show(id === "decisions");
  });
}

function connect() {
  store.subscribe((change, old) => {
    spot.keepOnly((id) => store.mention(id) !== null);
    if (change.anew) {
      spot.choose(null);
      app.text.render();
    } else app.text.update(change, old);
    app.light();
    app.matrix.update(change);
    app.detail.refresh();
    app.chains.render();
    app.decided.render();
    showStatus(app);
    showWorking(app);
    showProblem(app, old.problem);
    app.map.draw();
    app.queue.load();
  });
  spot.subscribe((what) => {
    app.text.follow(what);
    if (what.moved) {
      app.matrix.follow();
      app.detail.refresh();
      app.light();
      app.map.draw();
      byId("here").textContent = spot.mention
        ? `at ${where(spot.mention)} of ${store.state.tokens.length} tokens`
        : "";
    }
    showChosen(byId("chosen"), app);
  });
  byId("undo").addEventListener("click", () => app.actions.undo());
  byId("redo").addEventListener("click", () => app.actions.redo());
  byId("help").addEventListener("click", () => app.help());
  byId("show-out").addEventListener("change", () =>
    app.text.root.classList.toggle("no-out", !app.showsOut()),
  );
  document.addEventListener("click", (event) => {
    if (!event.target.closest("#export")) byId("export").open = false;
  });
  byId("export").addEventListener("click", (event) => {
    if (event.target.closest("a")) byId("export").open = false;
  });
  followPointer(app);
  listen(app);
}

build();
connect();
showStatus(app);
showWorking(app);
showProblem(app);
app.queue.load(0);
app.api.listen();
document.documentElement.dataset.ready = "yes";
