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

// A picture card as PNG: drawn here, so that nothing has to be installed on the server.
document.addEventListener("click", async event => {
  const button = event.target.closest("[data-png]");
  if (!button) return;
  const text = await (await fetch(button.dataset.png)).text(), picture = new Image(), canvas = document.createElement("canvas");
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await picture.decode();
  canvas.width = picture.naturalWidth; canvas.height = picture.naturalHeight;
  canvas.getContext("2d").drawImage(picture, 0, 0);
  const link = document.createElement("a");
  link.download = button.dataset.png.replace(/^.*\/(games|players)\/(\d+)\/card.svg$/, "$1-$2.png"); link.href = canvas.toDataURL("image/png");
  link.click();
});
