// Signs in with the one-time code after the # of the address.
import { api, keepKey } from "./api.js";

const text = document.getElementById("login-text");
const form = document.getElementById("login-form");
const code = location.hash.slice(1);
history.replaceState(null, "", location.pathname);

async function signedIn() {
  return api("GET", "/api/me").then((me) => me.signed_in, () => false);
}

function ask(message) {
  text.textContent = message;
  form.hidden = false;
}

async function signIn(proof) {
  keepKey((await api("POST", "/api/login", proof)).key);
  location.replace("/");
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await signIn({ token: form.token.value });
  } catch (error) {
    text.textContent = error.status === 401 ? "That token does not open this page." : error.message;
    form.token.select();
  }
});

addEventListener("hashchange", () => { if (location.hash) location.reload(); }); // another link was opened here
if (await signedIn()) {
  location.replace("/");
} else if (!code) {
  ask("Open the link that clank printed when it started, or that “clank login” prints.");
} else {
  try {
    await signIn({ code });
  } catch (error) {
    ask(error.status === 401 ? "This link has been used already. Each one works once; “clank login” prints a new one." : error.message);
  }
}
