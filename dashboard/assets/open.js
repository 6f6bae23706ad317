// Opens the page of this address: a link carries no key, so the page is asked for once more, with it. It is shown when
// its styles and scripts are there, so that nothing moves under the eyes.
import { page } from "./api.js";

async function open() {
  const response = await page(location.pathname + location.search);
  if (response.redirected) return location.replace(response.url);
  const html = await response.text();
  document.open();
  document.addEventListener("DOMContentLoaded", () => {
    document.documentElement.hidden = false;
    if (document.activeElement === document.body) document.querySelector("[data-focus]")?.focus();
  });
  document.write(html.replace("<html ", "<html hidden "));
  document.close();
}

open().catch((error) => {
  const title = document.getElementById("open-title");
  title.textContent = error.status === 404 ? "Page not found" : "This page cannot be shown";
  title.hidden = false;
  document.getElementById("open-text").textContent = error.message;
  document.getElementById("open-start").hidden = false;
});
