// What every page shares: files that are dropped, questions before something is deleted, forms that say what they do.
"use strict";

for (const form of document.querySelectorAll("[data-drop]")) {
  const zone = form.querySelector("[data-zone]"), input = form.querySelector("[type=file]"), names = form.querySelector("[data-names]");
  const show = () => { names.textContent = Array.from(input.files, file => file.name).join(", "); };
  input.addEventListener("change", show);
  for (const kind of ["dragenter", "dragover"]) zone.addEventListener(kind, event => { event.preventDefault(); zone.classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) zone.addEventListener(kind, () => zone.classList.remove("over"));
  zone.addEventListener("drop", event => { event.preventDefault(); input.files = event.dataTransfer.files; show(); });
  form.addEventListener("submit", () => { const button = form.querySelector("button.go"); button.textContent = "Sending…"; });
}

document.addEventListener("submit", event => {
  const question = event.target.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
});
