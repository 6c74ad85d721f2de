/** All about one mention: who said what, its chain, what else is possible and at which price. */
import { button, fill, make } from "../ui/dom.js";
import { chip, gist } from "../ui/choose_chain.js";
import { place, reference, snippet } from "../ui/snippet.js";
import { inChain, priced, times } from "../ui/words.js";

const PAUSE = 60;
const FEW = 4;

export class Detail {
  #timer = null;
  #reading = null;
  #told = null;
  #open = false;

  constructor(root, app) {
    this.root = root;
    this.app = app;
    this.render();
  }

  /** Say whether the panel is seen; only then is anything read. */
  show(open) {
    this.#open = open;
    if (open) this.refresh();
  }

  /** Show the current mention, and read what the server knows about it. */
  refresh() {
    const id = this.app.spot.mention;
    if (this.#told?.id !== id) this.#told = null;
    if (!this.#open) return;
    this.render();
    clearTimeout(this.#timer);
    this.#reading?.abort();
    if (!id || !this.app.store.mention(id)) return;
    this.#timer = setTimeout(() => this.#read(id), PAUSE);
  }

  async #read(id) {
    this.#reading = new AbortController();
    try {
      this.#told = {
        id,
        ...(await this.app.api.read(`mention/${encodeURIComponent(id)}`, this.#reading.signal)),
      };
      this.render();
    } catch (error) {
      if (error.name !== "AbortError" && error.kind !== "gone") this.app.say(error.message);
    }
  }

  render() {
    const { store, spot } = this.app;
    const id = spot.mention;
    const mention = store.mention(id);
    if (!mention) {
      fill(
        this.root,
        make(
          "p",
          { class: "empty" },
          "Click a mention in the text, or walk there with the arrow keys, to see who marked it and what else is possible.",
        ),
      );
      return;
    }
    fill(
      this.root,
      make("h2", { dir: "auto" }, make("q", {}, store.words(id, 80)), " ", place(id)),
      make(
        "p",
        {},
        mention.chain === null ? "In no chain of the result" : "In chain ",
        mention.chain === null ? "" : chip(mention.chain),
        this.#standing(id, mention),
      ),
      this.#buttons(mention),
      this.#votes(id, mention),
      this.#alternatives(id, mention),
      this.#chain(id, mention),
      this.#notes(id),
    );
  }

  #standing(id, mention) {
    if (mention.decision === "in") return " · enforced";
    if (mention.decision === "absent") return " · enforced to be no mention";
    const said = mention.new
      ? "marked by nobody"
      : `marked by ${mention.marked} of ${this.app.store.state.annotators.length}`;
    return ` · ${said}, not decided by you`;
  }

  #buttons(mention) {
    const { actions } = this.app;
    const can = [
      ["Enforce as it stands", "e", actions.enforce, mention.decision !== "in"],
      ["No mention", "x", actions.absent, mention.decision !== "absent"],
      ["Own chain", "b", actions.split, mention.chain !== null],
      ["Move to …", "c", actions.move, true],
      ["Accept whole chain", "a", actions.accept, mention.chain !== null],
      ["Take back", "f", actions.free, mention.decision !== null],
      ["Note", "i", actions.note, true],
    ];
    const made = can
      .filter(([, , , possible]) => possible)
      .map(([label, key, act]) => {
        const one = button(label, act, { key });
        one.dataset.keep = `act ${key}`;
        return one;
      });
    if (made[0]) made[0].dataset.first = "";
    return make("div", { class: "buttons" }, ...made);
  }

  #votes(id, mention) {
    const { store } = this.app;
    const go = (other) => this.app.spot.go(other, { focus: true });
    const rows = store.state.annotators.map((annotator, i) => {
      const vote = this.#told?.votes.find((one) => one.annotator === annotator);
      const chain = mention.votes[i];
      const others = (vote?.with ?? []).filter((other) => other !== id);
      const text = chain === null ? "did not mark it" : `chain ${chain}`;
      const near = nearest(others, id).slice(0, FEW);
      const list =
        chain === null ? [] : near.flatMap((other, n) => [n ? ", " : " with ", reference(store, other, go)]);
      const more = others.length > near.length ? ` and ${others.length - near.length} more` : "";
      return make(
        "tr",
        {},
        make("th", { scope: "row" }, make("bdi", {}, annotator)),
        make("td", {}, text, ...list, more),
      );
    });
    return make(
      "section",
      {},
      make("h3", {}, "Votes"),
      make("table", { class: "votes-table" }, make("tbody", {}, ...rows)),
    );
  }

  #alternatives(id, mention) {
    const { store } = this.app;
    if (!this.#told)
      return make("section", {}, make("h3", {}, "Alternatives"), make("p", { class: "soft" }, "Reading …"));
    const rows = this.#told.alternatives.map((one) => {
      const now = one.chain === mention.chain;
      const op =
        one.chain === null
          ? { do: "absent", mentions: [id] }
          : { do: "into", mentions: [id], chain: one.chain };
      const put = now
        ? make("span", { class: "soft" }, "now")
        : one.possible === false
          ? ""
          : button("Choose", () => this.app.act(op), { name: `Choose: ${inChain(one.chain)}` });
      return make(
        "tr",
        {},
        make("td", {}, chip(one.chain)),
        make(
          "td",
          {},
          make("bdi", {}, one.chain === null ? "no chain" : gist(store, one.chain, 3)),
          make("br", {}),
          make(
            "span",
            { class: "soft" },
            one.evidence != null ? `${times(one.evidence, "vote")} · ` : "",
            now ? `what the result says; leaving it ${priced(one)}` : priced(one),
          ),
        ),
        make("td", {}, put),
      );
    });
    const body = rows.length
      ? make("table", { class: "alternatives" }, make("tbody", {}, ...rows))
      : make("p", { class: "soft" }, "Nothing else is possible.");
    return make("section", {}, make("h3", {}, "Alternatives and what they cost"), body);
  }

  #chain(id, mention) {
    const { store } = this.app;
    const chain = store.chain(mention.chain);
    if (!chain) return null;
    const go = (other) => this.app.spot.go(other, { focus: true });
    const near = nearest(
      chain.mentions.filter((other) => other !== id),
      id,
    ).slice(0, 6);
    return make(
      "section",
      {},
      make(
        "h3",
        {},
        `Chain ${mention.chain}: ${times(chain.mentions.length, "mention")}${chain.decided ? ", all enforced" : ""}`,
      ),
      ...near.map((other) => snippet(store, other, go)),
      chain.mentions.length > near.length + 1
        ? button("All in the chain list", () => this.app.openChains(mention.chain), { kind: "quiet" })
        : null,
    );
  }

  #notes(id) {
    const notes = this.app.store.state.notes.filter((note) => note.mention === id);
    if (!notes.length) return null;
    return make(
      "section",
      {},
      make("h3", {}, "Notes"),
      make("ul", { class: "notes" }, ...notes.map((note) => this.app.noteItem(note))),
    );
  }
}

/** Sort mentions by how near they are to one, those around it first, and give them in text order. */
function nearest(ids, id, most = 6) {
  const at = Number(id.split("-")[0]);
  const distance = (other) => Math.abs(Number(other.split("-")[0]) - at);
  const near = [...ids].sort((one, other) => distance(one) - distance(other)).slice(0, most);
  return near.sort((one, other) => Number(one.split("-")[0]) - Number(other.split("-")[0]));
}
