// Ends the sign-in of this browser.
import { api, keepKey, setLeaving } from "./api.js";

document.querySelector("[data-logout]").addEventListener("click", async ({ currentTarget: button }) => {
  button.disabled = true;
  setLeaving(true);
  try {
    await api("POST", "/api/logout");
  } catch (error) {
    if (error.status !== 401) {
      setLeaving(false);
      button.disabled = false;
      button.title = error.message;
      return;
    }
  }
  keepKey("");
  location.replace("/login");
});
