/** Buttons and forms of the start page: each sends what it has, and goes to the page that the server names. */
const csrf = document.querySelector("meta[name=csrf]")?.getAttribute("content") ?? "";

/**
 * Send values, and return what the server answers; throw what it refuses.
 * @param {string} address
 * @param {Record<string, string> | Blob} values
 * @returns {Promise<Record<string, unknown>>}
 */
async function send(address, values) {
  const plain = values instanceof Blob;
  const type = plain ? "application/octet-stream" : "application/json";
  const headers = { "Content-Type": type, "X-CSRF": csrf };
  let answer;
  try {
    answer = await fetch(address, { method: "POST", headers, body: plain ? values : JSON.stringify(values) });
  } catch {
    throw new Error("CaspR does not answer: it may have ended. Start it again; everything is saved.");
  }
  const reply = await answer
    .json()
    .catch(() => ({ error: `Refused (${answer.status}). Load the page again.` }));
  if (!answer.ok) throw new Error(reply.error);
  return reply;
}

/**
 * Show what went wrong beside what was clicked.
 * @param {HTMLElement} near
 * @param {string} text
 */
function complain(near, text) {
  const own = near.querySelector("[role=alert]");
  const other = document.querySelector(near.id ? `[data-for="${near.id}"]` : "main > [role=alert]");
  const place = own ?? other ?? document.querySelector("[role=alert]");
  if (!(place instanceof HTMLElement)) return;
  place.hidden = text === "";
  place.textContent = text;
  if (text) place.scrollIntoView({ block: "nearest" });
}

/**
 * @param {HTMLElement} near
 * @param {string} address
 * @param {Record<string, string>} values
 */
async function post(near, address, values) {
  complain(near, "");
  near.setAttribute("aria-busy", "true");
  try {
    const reply = await send(address, values);
    go(String(reply.to));
  } catch (error) {
    complain(near, error instanceof Error ? error.message : String(error));
  } finally {
    near.removeAttribute("aria-busy");
  }
}

/**
 * Go to a page, also where only its place differs from the one that is shown.
 * @param {string} address
 */
function go(address) {
  const next = new URL(address, location.href);
  const same = next.pathname + next.search === location.pathname + location.search;
  location.assign(next);
  if (same) location.reload();
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || !form.dataset.post) return;
  event.preventDefault();
  if (form.hasAttribute("aria-busy")) return;
  /** @type {Record<string, string>} */
  const values = {};
  for (const [name, value] of new FormData(form, event.submitter)) values[name] = String(value);
  post(form, form.dataset.post, values);
});

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("button") : null;
  if (!button) return;
  if (button.dataset.post && !button.hasAttribute("aria-busy")) {
    const { post: address, ...values } = button.dataset;
    post(button, address, /** @type {Record<string, string>} */ (values));
  }
  if (button.dataset.copy !== undefined) copyText(button);
});

/** @param {HTMLButtonElement} button */
async function copyText(button) {
  const text = button.closest("details")?.querySelector("pre")?.textContent ?? "";
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select the text and copy it";
  }
}

/** A file with the path that it gets in the project. @typedef {{ file: File, name: string }} Picked */

const unreadable = (/** @type {string} */ name) =>
  `${name} cannot be read: perhaps you may not open it. Nothing of it was copied.`;
const UNCOPIED = "caspr-uncopied";

/**
 * Copy files into the project, one after another, and show the page again, with what could not be copied.
 * @param {HTMLElement} drop
 * @param {Picked[]} picked
 * @param {string[]} problems
 */
async function copyFiles(drop, picked, problems = []) {
  const status = drop.querySelector("[data-copying]");
  drop.setAttribute("aria-busy", "true");
  for (const [number, { file, name }] of picked.entries()) {
    if (status) status.textContent = `Copying ${number + 1} of ${picked.length}: ${name}`;
    try {
      await file.slice(0, 1).arrayBuffer();
    } catch {
      problems.push(unreadable(name));
      continue;
    }
    try {
      await send(`${drop.dataset.drop}&name=${encodeURIComponent(name)}`, file);
    } catch (error) {
      problems.push(`${name}: ${error instanceof Error ? error.message : error}`);
    }
  }
  drop.removeAttribute("aria-busy");
  if (status) status.textContent = "";
  if (!picked.length && !problems.length) problems.push("There is no file in it.");
  sessionStorage.setItem(UNCOPIED, problems.join("\n"));
  location.reload();
}

/**
 * Return the files of something that was dropped, with those in folders; what cannot be read is added to `problems`.
 * @param {FileSystemEntry} entry
 * @param {string[]} problems
 * @returns {Promise<Picked[]>}
 */
async function filesOf(entry, problems) {
  try {
    return await readableFilesOf(entry, problems);
  } catch {
    problems.push(unreadable(entry.fullPath.replace(/^\//, "")));
    return [];
  }
}

/**
 * @param {FileSystemEntry} entry
 * @param {string[]} problems
 * @returns {Promise<Picked[]>}
 */
async function readableFilesOf(entry, problems) {
  if (entry.isFile) {
    const file = await new Promise((found, failed) =>
      /** @type {FileSystemFileEntry} */ (entry).file(found, failed),
    );
    return [{ file, name: entry.fullPath.replace(/^\//, "") }];
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  const files = [];
  for (;;) {
    /** @type {FileSystemEntry[]} */
    const some = await new Promise((found, failed) => reader.readEntries(found, failed));
    if (!some.length) return files;
    for (const inside of some) files.push(...(await filesOf(inside, problems)));
  }
}

for (const drop of document.querySelectorAll("[data-drop]")) {
  if (!(drop instanceof HTMLElement)) continue;
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", async (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    const items = [...(event.dataTransfer?.items ?? [])].map((item) => item.webkitGetAsEntry());
    const found = [];
    /** @type {string[]} */
    const problems = [];
    for (const entry of items) if (entry) found.push(...(await filesOf(entry, problems)));
    copyFiles(drop, found, problems);
  });
  drop.addEventListener("change", (event) => {
    const input = event.target;
    if (!(input instanceof HTMLInputElement)) return;
    const picked = [...(input.files ?? [])].map((file) => ({
      file,
      name: file.webkitRelativePath || file.name,
    }));
    copyFiles(drop, picked);
  });
  complain(drop, sessionStorage.getItem(UNCOPIED) ?? "");
  sessionStorage.removeItem(UNCOPIED);
}
// A file that is dropped beside the place for files must not replace the page.
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => event.preventDefault());

/**
 * Show how far something is until it has ended.
 * @param {HTMLElement} shown
 */
async function follow(shown) {
  const one = (/** @type {string} */ name) => /** @type {HTMLElement | null} */ (shown.querySelector(name));
  for (;;) {
    const job = await fetch(shown.dataset.job ?? "").then((answer) => answer.json());
    const running = job.state === "running";
    const count = job.steps > 1 ? ` (${job.number} of ${job.steps})` : "";
    set(one("[data-step]"), `${job.step}${count}${running ? " …" : ""}`);
    set(one("[data-progress]"), job.progress ?? "");
    set(one("[data-seconds]"), `${job.seconds} s`);
    set(one("[data-command]"), job.command ?? "");
    set(one("[data-error] pre"), job.error ?? "");
    const bar = one("progress");
    if (bar instanceof HTMLProgressElement) {
      if (job.share === null) bar.removeAttribute("value");
      else bar.value = job.share;
    }
    if (job.state === "done" || job.state === "gone") return location.replace(job.then ?? "/");
    for (const part of shown.querySelectorAll("[data-running]")) part.toggleAttribute("hidden", !running);
    one("[data-ended]")?.toggleAttribute("hidden", running);
    one("[data-error]")?.toggleAttribute("hidden", job.state !== "failed");
    one("[data-cancelled]")?.toggleAttribute("hidden", job.state !== "cancelled");
    if (!running) return undefined;
    await new Promise((resume) => setTimeout(resume, 400));
  }
}

/**
 * @param {HTMLElement | null} place
 * @param {string} text
 */
function set(place, text) {
  if (place && place.textContent !== text) place.textContent = text;
}

/**
 * Show a project as it is now when its window is looked at again: questions were answered in another one.
 * @param {Element} shown
 */
async function refresh(shown) {
  const page = await fetch(location.href).then((answer) => answer.text());
  const live = new DOMParser().parseFromString(page, "text/html").querySelector("[data-live]");
  if (live && !live.isEqualNode(shown)) location.reload();
}

const live = document.querySelector("[data-live]");
if (live) {
  const again = () => document.hidden || refresh(live).catch(() => {});
  for (const shown of ["focus", "pageshow"]) addEventListener(shown, again);
  document.addEventListener("visibilitychange", again);
}

// A link that takes what was typed along.
for (const link of document.querySelectorAll("a[data-with]")) {
  link.addEventListener("click", () => {
    if (!(link instanceof HTMLAnchorElement)) return;
    const input = document.getElementById(link.dataset.with ?? "");
    const next = new URL(link.href);
    if (input instanceof HTMLInputElement) next.searchParams.set(input.name, input.value);
    link.href = next.href;
  });
}

const job = document.querySelector("[data-job]");
if (job instanceof HTMLElement) follow(job).catch(() => {});
document.documentElement.dataset.ready = "yes";
