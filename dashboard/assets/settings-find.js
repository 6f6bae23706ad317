// Which settings are shown: those that matter first and those that were changed, all, or those with certain words.
const find = document.getElementById("find"), all = document.getElementById("all"), found = document.getElementById("found");
const fields = [...document.querySelectorAll("[data-find]")].map((node) => ({
  node, first: node.dataset.find === "first",
  words: `${node.closest(".group").querySelector("h2").textContent} ${node.querySelector(".field-text").textContent} ${node.dataset.key ?? ""}`.toLowerCase(),
}));
const groups = [...document.querySelectorAll("#settings .group")];

function show() {
  const wanted = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  let n = 0;
  for (const { node, first, words } of fields) {
    // What is not saved, or wrong, stays in sight.
    const stays = node.matches(".dirty, .bad");
    const fits = wanted.length ? wanted.every((word) => words.includes(word)) : all.checked || first;
    node.hidden = !fits && !stays;
    if (fits) n++;
  }
  for (const group of groups) {
    group.hidden = !group.querySelector("[data-find]:not([hidden])");
    document.querySelector(`.groups a[href="#${group.id}"]`).hidden = group.hidden;
  }
  found.textContent = wanted.length ? (n === 0 ? "No settings match." : n === 1 ? "1 setting matches." : `${n} settings match.`) : all.checked ? "" : `${n} of ${fields.length} settings: the most important ones, and those that were changed.`;
}

// A link to a setting or a group shows it.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target?.closest("#settings [hidden]")) return;
  all.checked = true;
  find.value = "";
  show();
  target.scrollIntoView();
}

find.addEventListener("input", show);
all.addEventListener("change", show);
addEventListener("hashchange", reveal);
addEventListener("settings-answered", show);
show();
reveal();
