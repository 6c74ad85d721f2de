/** Tells the server that this page is open, and the user when CaspR has ended. */
const stream = new EventSource("/alive");
let lost = 0;

stream.addEventListener("open", () => {
  lost = 0;
  document.getElementById("ended")?.setAttribute("hidden", "");
});
stream.addEventListener("error", () => {
  lost += 1;
  if (lost > 3) document.getElementById("ended")?.removeAttribute("hidden");
});
// A page that is left closes its stream at once, also where the browser keeps it to go back to.
addEventListener("pagehide", () => stream.close());
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
