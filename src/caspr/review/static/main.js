/**
 * Start the page.
 *
 *   server --> Store --> text, matrix, panels          what is shown
 *   keys, pointer --> Moves --> Selection --> text     where the reader is
 *   keys, buttons --> Actions --> Api --> server       what is done
 *
 * Nothing is shown as decided before the server acknowledged that it is on the disk.
 */
import { App } from "./app.js";
import { listenToKeys, showKeys } from "./input/keys.js";
import { listenToPointer } from "./input/pointer.js";
import { showSelectionBar } from "./panels/selection_bar.js";
import { showProblem } from "./panels/server_events.js";
import { hideNames, namesAreHidden } from "./state/blind.js";
import { around, byId } from "./ui/dom.js";
import { lineLabel } from "./ui/words.js";
/** @import { SelectionChange } from "./state/selection.js" */
/** @import { StoreChange } from "./state/store.js" */
/** @import { State } from "./state/types.js" */

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
  app.detail.refresh();
  app.chains.refresh();
  app.decisions.refresh();
  app.status.show();
  app.status.showSearch();
  app.people.show();
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
    app.detail.refresh();
    app.highlight();
    app.minimap.draw();
    byId("here").textContent = mention ? `${lineLabel(mention)} of ${app.text.lineCount}` : "";
  }
  showSelectionBar(app);
}

function listenToButtons() {
  const menu = byId("export", HTMLDetailsElement);
  byId("undo").addEventListener("click", () => app.actions.undo());
  byId("redo").addEventListener("click", () => app.actions.redo());
  byId("help").addEventListener("click", () => showKeys(app));
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
  document.addEventListener("click", (event) => {
    if (!around(event, "#export") || around(event, "#export a")) menu.open = false;
  });
}

app.store.subscribe(onStoreChange);
app.selection.subscribe(onSelectionChange);
listenToButtons();
listenToPointer(app);
listenToKeys(app);
app.status.show();
app.status.showSearch();
app.people.show();
showProblem(app);
app.queue.load(0);
app.api.listen();
document.documentElement.dataset.ready = "yes";
