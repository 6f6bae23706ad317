// Opens the page of this address: a link carries no key, so the page is asked for once more, with it.
import { readPage } from "./api.js";

async function open() {
  const html = await readPage(location.pathname + location.search);
  document.open();
  document.write(html);
  document.close();
}

open().catch((error) => { document.getElementById("open-text").textContent = error.message; });
