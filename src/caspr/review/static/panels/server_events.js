/** What the page does with events of the server. */
import { SESSION_ENDED, offerAgain } from "./refusals.js";
/** @import { App } from "../app.js" */
/** @import { ServerListener } from "../state/api.js" */

/**
 * @param {App} app
 * @returns {ServerListener}
 */
export function serverEvents(app) {
  const { announcer, store } = app;
  return {
    update({ update, before, foreign }) {
      const { lastChange } = app;
      if (before.working && lastChange.searching) lastChange.add(update);
      else if (foreign) {
        lastChange.begin("Changed by a colleague, in another tab or in the file", update, before);
        announcer.say("The document was changed by a colleague, in another tab or in the file.");
      }
      if (before.working && !store.state.working) {
        lastChange.searching = false;
        announcer.say(lastChange.summary);
      }
    },
    progress: (best) => app.status.showSearch(best),
    questions: () => app.queue.load(),
    lease: (lease) => app.people.follow(lease),
    unreachable: () =>
      announcer.fail(
        "The server does not answer. What was acknowledged is in the file; new decisions cannot be saved until it is back.",
      ),
    reachable() {
      if (app.unsaved.length) {
        offerAgain(app, "The server is back. This was not acknowledged:", app.unsaved);
        return;
      }
      announcer.hideBanner();
      announcer.say("The server is back.");
    },
    ended: () => announcer.fail(SESSION_ENDED),
  };
}

/**
 * Show what is wrong with the file as it was edited outside; until that is repaired nothing can be saved.
 * @param {App} app
 * @param {string | null} before the problem that is shown already
 */
export function showProblem({ announcer, store }, before = null) {
  const { problem } = store.state;
  if (problem === before) return;
  if (problem) announcer.fail(`Nothing can be saved now: ${problem}`);
  else {
    announcer.hideBanner();
    announcer.say("The file can be used again.");
  }
}
