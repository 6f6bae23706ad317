// Applies the chosen theme before the page is painted, and lets it be changed.
// Without a choice the system's is used.
(() => {
  const root = document.documentElement;
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;

  addEventListener("click", (event) => {
    if (!event.target.closest?.("[data-theme-toggle]")) return;
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const next = (root.dataset.theme || system) === "dark" ? "light" : "dark";
    if (next === system) {
      delete root.dataset.theme;
      localStorage.removeItem("theme");
    } else {
      root.dataset.theme = next;
      localStorage.setItem("theme", next);
    }
  });
})();
