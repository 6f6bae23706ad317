// Signs in: with the one-time code after the # of the address, with what Discord has sent back, or with a token.
import { api, keepKey } from "./api.js";

const text = document.getElementById("login-text");
const form = document.getElementById("login-form");
const discord = document.getElementById("login-discord");
const code = location.hash.slice(1);
const back = new URLSearchParams(location.search);
const begun = "clank-sign-in"; // the state of a sign-in at Discord, which only the tab that began it knows
history.replaceState(null, "", location.pathname);

async function signedIn() {
  return api("GET", "/api/me").then((me) => me.signed_in, () => false);
}

function ask(message) {
  text.textContent = message;
  form.hidden = document.getElementById("login").hidden = false;
  if (discord) discord.hidden = false;
}

async function signIn(path, proof) {
  keepKey((await api("POST", path, proof)).key);
  location.replace("/");
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await signIn("/api/login", { token: form.token.value });
  } catch (error) {
    text.textContent = error.status === 401 ? "That token does not open this page." : error.message;
    form.token.select();
  }
});

discord?.firstElementChild.addEventListener("click", async ({ currentTarget: button }) => {
  button.disabled = true;
  try {
    const { url } = await api("POST", "/api/login/discord/begin");
    sessionStorage.setItem(begun, new URL(url).searchParams.get("state"));
    location.assign(url);
  } catch (error) {
    text.textContent = error.message;
    button.disabled = false;
  }
});

// finish takes what Discord has sent back.
async function finish() {
  const state = sessionStorage.getItem(begun);
  sessionStorage.removeItem(begun);
  if (!state || back.get("state") !== state) return ask("This sign-in was not begun in this tab. Begin it here.");
  if (!back.get("code")) return ask("Discord did not sign you in.");
  return signIn("/api/login/discord", { state, code: back.get("code") }).catch((error) => ask(error.message));
}

addEventListener("hashchange", () => { if (location.hash) location.reload(); }); // another link was opened here
if (back.has("state")) {
  await finish();
} else if (await signedIn()) {
  location.replace("/");
} else if (!code) {
  ask(discord ? "Sign in with the Discord account with which you use clank, or open the link that “clank login” prints."
    : "Open the link that clank printed when it started, or that “clank login” prints.");
} else {
  try {
    await signIn("/api/login", { code });
  } catch (error) {
    ask(error.status === 401 ? "This link has been used already. Each one works once; “clank login” prints a new one." : error.message);
  }
}
