// The set-up page: looks again, and asks the model for a word.
import { api } from "./api.js";

document.getElementById("again").addEventListener("click", () => location.reload());
document.getElementById("test-model")?.addEventListener("click", async ({ currentTarget: button }) => {
  const result = document.getElementById("model-result");
  button.disabled = true;
  result.textContent = "Asking the model…";
  result.textContent = await api("POST", "/api/setup/model").then(({ text }) => text, (error) => error.message);
  button.disabled = false;
});
