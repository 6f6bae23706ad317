// Opens the page of this address: a link carries no key, so the page is asked for once more, with it.
import { page } from "./api.js";

async function open() {
  const response = await page(location.pathname + location.search);
  if (response.redirected) return location.replace(response.url);
  const html = await response.text();
  document.open();
  document.write(html);
  document.close();
}

open().catch((error) => { document.getElementById("open-text").textContent = error.message; });
