// One game: the board, the moves, and the slider that shows what people of any strength play here.
import { Chessground } from "/static/vendor/chessground.min.js";
import { chart, edge, line } from "/static/charts.js";

const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const page = document.getElementById("game"), slider = document.getElementById("level"), shown = document.getElementById("level-shown");
const list = document.getElementById("people"), note = document.getElementById("people-note");
const game = await (await fetch(page.dataset.json)).json();
const levels = []; for (let elo = +slider.min; elo <= +slider.max; elo += +slider.step) levels.push(elo);
const MOST = 6, CUT = 8, MATE = 39;
let ply = 0, answers = new Map(), charts = [], touched = false;

const place = document.getElementById("board");
place.replaceChildren();
const board = Chessground(place, { viewOnly: true, coordinates: true, animation: { duration: 150 }, drawable: { enabled: false, visible: true } });
const fen = at => at ? game.moves[at - 1].fen : game.start_fen;
const value = at => { const found = at ? game.moves[at - 1].white_value_cp : game.start_value_cp; return found == null ? null : found / 100; };

async function answer(position) {
  if (!answers.has(position)) {
    const query = new URLSearchParams({ fen: position });
    for (const elo of levels) query.append("elo", elo);
    answers.set(position, fetch(`/api/moves?${query}`).then(reply => reply.ok ? reply.json() : null));
  }
  return answers.get(position);
}

function ownLevel() {
  const known = game.players[fen(ply).split(" ")[1] === "b" ? 1 : 0].level;
  return known == null ? 1500 : known;
}

async function people() {
  const position = fen(ply), found = await answer(position), next = game.moves[ply];
  if (position !== fen(ply)) return;
  const at = levels.indexOf(+slider.value);
  list.replaceChildren();
  if (!found) { note.textContent = "The game is over here."; board.setAutoShapes([]); return; }
  const rows = found.moves.map(move => ({ ...move, share: move.probability[at] })).sort((a, b) => b.share - a.share);
  const best = rows.slice(0, MOST), played = rows.find(row => next && row.move === next.uci);
  if (played && !best.includes(played)) best[MOST - 1] = played;
  for (const row of best) list.append(entry(row, row === played));
  note.textContent = next ? `Played was ${next.san}, ${percent(played.share)} at ${slider.value}; strength of the player in these games about ${Math.round(ownLevel())}.` : "";
  board.setAutoShapes(best.slice(0, 3).filter(row => row.share > .05).map(row => ({ orig: row.move.slice(0, 2), dest: row.move.slice(2, 4), brush: "green", modifiers: { lineWidth: 3 + 9 * row.share } })));
}

function percent(share) { return share < .001 ? "< 0.1 %" : `${(100 * share).toFixed(1)} %`; }

function entry(row, played) {
  const item = document.createElement("li"), name = document.createElement("span"), track = document.createElement("span"), fill = document.createElement("div"), share = document.createElement("span");
  name.textContent = row.san; if (played) { item.className = "played"; name.textContent += " ●"; name.title = "played"; }
  track.className = "track"; fill.className = "fill"; fill.style.width = `${100 * row.share}%`; track.append(fill);
  share.className = "share"; share.textContent = percent(row.share);
  item.append(name, track, share);
  return item;
}

function clocks() {
  for (const place of document.querySelectorAll("[data-clock]")) {
    let left = null;
    for (const move of game.moves.slice(0, ply)) if (move.side === place.dataset.clock && move.clock != null) left = move.clock;
    place.textContent = left == null ? "" : `${Math.floor(left / 60)}:${String(Math.floor(left % 60)).padStart(2, "0")}`;
  }
}

function show(to) {
  ply = Math.max(0, Math.min(game.moves.length, to));
  const last = ply ? game.moves[ply - 1].uci : null, now = value(ply);
  board.set({ fen: fen(ply), lastMove: last ? [last.slice(0, 2), last.slice(2, 4)] : undefined, turnColor: fen(ply).split(" ")[1] === "b" ? "black" : "white" });
  for (const button of document.querySelectorAll(".move")) {
    if (+button.dataset.ply === ply) { button.setAttribute("aria-current", "true"); const box = button.closest(".moves"); box.scrollTop = button.offsetTop - box.offsetTop - box.clientHeight / 2; }
    else button.removeAttribute("aria-current");
  }
  document.getElementById("value").textContent = now == null ? "" : Math.abs(now) >= MATE ? `${now > 0 ? "White" : "Black"} mates` : `${now >= 0 ? "+" : "−"}${Math.abs(now).toFixed(2)}`;
  const bar = document.querySelector(".evalbar");
  bar.style.visibility = now == null ? "hidden" : "visible"; document.querySelector(".evalwhite").style.height = `${now == null ? 50 : 50 + 50 * (2 / (1 + Math.exp(-.45 * now)) - 1)}%`;
  if (!touched) { slider.value = Math.round(ownLevel() / 50) * 50; shown.textContent = slider.value; }
  clocks(); people();
  for (const one of charts) one.plot.setCursor({ left: one.plot.valToPos(ply, "x"), top: 20 }, false);
  history.replaceState(null, "", ply ? `#${ply}` : location.pathname);
}

function draw() {
  const at = Array.from({ length: game.moves.length + 1 }, (_, i) => i), cut = x => x == null ? null : Math.max(-CUT, Math.min(CUT, x));
  const values = at.map(i => cut(value(i)));
  const click = { setCursor: [] }, axis = { values: (_, ticks) => ticks.map(t => Math.floor(t / 2) + 1) };
  const common = { scales: { x: { time: false } }, hooks: click };
  const place = document.getElementById("value-chart");
  if (values.some(x => x != null)) charts.push(chart(place, { ...common, height: 160, scales: { x: { time: false }, y: { range: [-CUT, CUT] } }, axes: [axis, { label: "pawns", splits: () => [-8, -4, 0, 4, 8] }], series: () => [{ label: "move", value: (_, t) => t == null ? "–" : Math.floor(t / 2) + 1 }, line("evaluation", "--accent", { value: (_, x) => x == null ? "–" : x.toFixed(2), fill: css("--band-white"), fillTo: 0, spanGaps: true })] }, [at, values]));
  else { place.textContent = "No engine has valued this game."; place.classList.add("soft"); }
  const side = name => { let last = null; return at.map(i => { const move = i ? game.moves[i - 1] : null; if (move && move.side === name && move.axis_elo != null) last = move; return last; }); };
  const white = side("white"), black = side("black"), pick = (rows, name) => rows.map(row => row && row[name]);
  charts.push(chart(document.getElementById("strength-chart"), { ...common, scales: { x: { time: false }, y: { range: [400, 3300] } }, axes: [axis, { label: "Elo" }],
    series: () => [{ label: "move", value: (_, t) => t == null ? "–" : Math.floor(t / 2) + 1 }, line("White", "--white-side"), edge("--white-side"), edge("--white-side"), line("Black", "--black-side", { dash: [8, 4] }), edge("--black-side"), edge("--black-side")],
    bands: () => [{ series: [3, 2], fill: css("--band-white") }, { series: [6, 5], fill: css("--band-black") }] },
  [at, ...[white, black].flatMap(rows => ["axis_elo", "axis_low", "axis_high"].map(name => pick(rows, name)))]));
  for (const one of charts) one.plot.over.addEventListener("click", event => show(Math.round(one.plot.posToVal(event.offsetX, "x"))));
}

function flip() { board.toggleOrientation(); document.querySelector(".left").classList.toggle("flipped"); }

slider.addEventListener("input", () => { touched = true; shown.textContent = slider.value; people(); });
document.getElementById("moves").addEventListener("click", event => { const button = event.target.closest("[data-ply]"); if (button) show(+button.dataset.ply); });
for (const button of document.querySelectorAll("[data-step]")) button.addEventListener("click", () => {
  const step = button.dataset.step;
  if (step === "flip") flip(); else show(step === "first" ? 0 : step === "last" ? game.moves.length : ply + +step);
});
document.addEventListener("keydown", event => {
  if (event.target.matches("input, select, textarea")) return;
  if (event.key === "ArrowRight") { show(ply + 1); event.preventDefault(); }
  if (event.key === "ArrowLeft") { show(ply - 1); event.preventDefault(); }
});
addEventListener("hashchange", () => show(+location.hash.slice(1) || 0));
draw();
const asked = +location.hash.slice(1);
if (asked && game.moves[asked - 1] && game.moves[asked - 1].side === "black") flip();
show(asked || 0);
page.dataset.ready = "true";
