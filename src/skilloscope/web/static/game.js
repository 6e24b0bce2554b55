// One game: the board, the moves, and the slider that shows what people of any strength play here.
import { Chessground } from "/static/vendor/chessground.min.js";
import { chart, edge, line } from "/static/charts.js";

const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const page = document.getElementById("game"), slider = document.getElementById("level"), shown = document.getElementById("level-shown");
const list = document.getElementById("people"), note = document.getElementById("people-note");
const game = await (await fetch(page.dataset.json)).json();
const levels = []; for (let elo = +slider.min; elo <= +slider.max; elo += +slider.step) levels.push(elo);
const MOST = 6, CUT = 8, MATE = 39;
let ply = 0, aside = null, answers = new Map(), charts = [], touched = false;
const moments = game.moves.map((move, at) => ({ ...move, at: at + 1 })).filter(move => ["??", "?", "!"].includes(move.mark)).map(move => move.at);

const place = document.getElementById("board");
place.replaceChildren();
const board = Chessground(place, { coordinates: true, animation: { duration: 150 }, drawable: { enabled: false, visible: true }, movable: { free: false, showDests: true, events: { after: leave } } });
const here = () => aside ? aside.fen : fen(ply);
const origin = () => aside ? [aside.before, aside.last] : ply ? [fen(ply - 1), game.moves[ply - 1].uci] : [fen(0), ""]; // people answer the last move
const fen = at => at ? game.moves[at - 1].fen : game.start_fen;
const value = at => { const found = at ? game.moves[at - 1].white_value_cp : game.start_value_cp; return found == null ? null : found / 100; };

async function answer(position, move = "") {
  const key = position + move;
  if (!answers.has(key)) {
    const query = new URLSearchParams({ fen: position, pool: game.pool, move });
    for (const elo of levels) query.append("elo", elo);
    answers.set(key, fetch(`/api/moves?${query}`).then(reply => reply.ok ? reply.json() : null));
  }
  return answers.get(key);
}

// A piece was moved on the board: leave the game, or follow it where that is the move played.
async function leave(from, to) {
  const before = here(), known = await answer(...origin()), wanted = known.moves.filter(move => move.move.startsWith(from + to));
  const move = wanted.find(one => one.move.endsWith("q")) || wanted[0], next = game.moves[ply];
  if (!aside && next && next.uci === move.move) { show(ply + 1); return; }
  const found = await answer(before, move.move);
  const after = found ? found.fen : null;
  if (!after) { show(ply); return; }
  aside = { fen: after, before, last: move.move, words: [...(aside ? aside.words : []), move.san] };
  place_board();
}

function place_board() {
  const position = here(), last = aside ? aside.last : ply ? game.moves[ply - 1].uci : null, turn = position.split(" ")[1] === "b" ? "black" : "white";
  board.set({ fen: position, lastMove: last ? [last.slice(0, 2), last.slice(2, 4)] : undefined, turnColor: turn, movable: { color: turn, dests: new Map() } });
  if (!touched) { slider.value = Math.round(ownLevel() / 50) * 50; shown.textContent = slider.value; }
  document.getElementById("play-on").href = `/play?${new URLSearchParams({ fen: position, side: turn, elo: Math.round((game.players[turn === "white" ? 1 : 0].level ?? 1500) / 50) * 50, pool: game.pool })}`;
  say(); people();
}

const whole = share => `${Math.round(100 * share)} %`, level = at => Math.round(game.players[at].level);
function often(share) { return share >= .3 ? `${Math.round(100 * share)} % of players` : share >= .005 ? `1 in ${Math.round(1 / share)} players` : "hardly any player"; }

function say() {
  const place = document.getElementById("verdict");
  if (aside) { place.textContent = `Off the game: ${aside.words.join(" ")}. An arrow key leads back.`; return; }
  const move = game.moves[ply - 1];
  if (!move) { place.textContent = moments.length ? `${moments.length} key moments: press N.` : ""; return; }
  const name = `${move.number}${move.side === "white" ? "." : "…"} ${move.san}${move.mark}`, rated = game.players[move.side === "white" ? 0 : 1].level == null ? "" : ` rated ${level(move.side === "white" ? 0 : 1)}`;
  const parts = [];
  if (move.mark && move.mark !== "!") {
    parts.push(`${name} drops ${move.player}’s winning chances from ${whole(move.chances)} to ${whole(move.chances_after)}${move.reply ? `: ${move.reply} follows` : ""}.`);
    if (move.better) parts.push(`Best was ${move.line || move.better}.`);
  } else if (move.mark === "!") parts.push(`${name}: the only good move.`, move.line ? `Main line ${move.line}.` : "");
  else parts.push(`${name}.`);
  if (move.probability != null) parts.push(`Played by ${often(move.probability)}${rated}.`);
  if (move.mark && move.mark !== "!" && move.found_by) parts.push(`${move.better} is found ${Object.entries(move.found_by).map(([elo, p]) => `at ${elo} by ${p < .01 ? "< 1 %" : whole(p)}`).join(", ")}.`);
  place.textContent = parts.join(" ");
}

function moment(step) {
  const found = step > 0 ? moments.find(at => at > ply) : moments.findLast(at => at < ply);
  if (found) show(found);
}

function ownLevel() {
  const known = game.players[here().split(" ")[1] === "b" ? 1 : 0].level;
  return known == null ? 1500 : known;
}

async function people() {
  const position = here(), found = await answer(...origin()), next = aside ? null : game.moves[ply];
  if (position !== here()) return;
  const at = levels.indexOf(+slider.value);
  list.replaceChildren();
  if (!found) { note.textContent = "The game is over here."; board.setAutoShapes([]); return; }
  const dests = new Map();
  for (const move of found.moves) dests.set(move.move.slice(0, 2), [...(dests.get(move.move.slice(0, 2)) || []), move.move.slice(2, 4)]);
  board.set({ movable: { dests } });
  const rows = found.moves.map(move => ({ ...move, share: move.probability[at] })).sort((a, b) => b.share - a.share);
  const best = rows.slice(0, MOST), played = rows.find(row => next && row.move === next.uci);
  if (played && !best.includes(played)) best[MOST - 1] = played;
  for (const row of best) list.append(entry(row, row === played));
  note.textContent = next ? `${next.player} (about ${Math.round(ownLevel())}) played ${next.san}, like ${often(played.share)} rated ${slider.value}.` : "";
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
  aside = null;
  const now = value(ply);
  for (const button of document.querySelectorAll(".move")) {
    if (+button.dataset.ply === ply) { button.setAttribute("aria-current", "true"); const box = button.closest(".moves"); box.scrollTop = button.offsetTop - box.offsetTop - box.clientHeight / 2; }
    else button.removeAttribute("aria-current");
  }
  document.getElementById("value").textContent = now == null ? "" : Math.abs(now) >= MATE ? `${now > 0 ? "White" : "Black"} mates` : `${now >= 0 ? "+" : "−"}${Math.abs(now).toFixed(2)}`;
  const bar = document.querySelector(".evalbar");
  bar.style.visibility = now == null ? "hidden" : "visible"; document.querySelector(".evalwhite").style.height = `${now == null ? 50 : 50 + 50 * (2 / (1 + Math.exp(-.45 * now)) - 1)}%`;
  clocks(); place_board();
  for (const one of charts) one.plot.setCursor({ left: one.plot.valToPos(ply, "x"), top: 20 }, false);
  history.replaceState(null, "", location.pathname + location.search + (ply ? `#${ply}` : ""));
}

function draw() {
  const at = Array.from({ length: game.moves.length + 1 }, (_, i) => i), cut = x => x == null ? null : Math.max(-CUT, Math.min(CUT, x));
  const values = at.map(i => cut(value(i)));
  const click = { setCursor: [] }, axis = { values: (_, ticks) => ticks.map(t => Math.floor(t / 2) + 1), incrs: [2, 10, 20, 40, 100, 200] };
  const common = { scales: { x: { time: false } }, hooks: click };
  const place = document.getElementById("value-chart");
  if (values.some(x => x != null)) charts.push(chart(place, { ...common, height: 160, scales: { x: { time: false }, y: { range: [-CUT, CUT] } }, axes: [axis, { label: "pawns", splits: () => [-8, -4, 0, 4, 8] }], series: () => [{ label: "move", value: (_, t) => t == null ? "–" : Math.floor(t / 2) + 1 }, line("evaluation", "--accent", { value: (_, x) => x == null ? "–" : x.toFixed(2), fill: css("--band-white"), fillTo: 0, spanGaps: true })] }, [at, values]));
  else { place.textContent = "No engine has valued this game."; place.classList.add("soft"); }
  const left = name => { let last = null; return at.map(i => { const move = i ? game.moves[i - 1] : null; if (move && move.side === name && move.clock != null) last = move.clock / 60; return last; }); };
  const clock = document.getElementById("clock-chart");
  if (game.moves.some(move => move.clock != null)) charts.push(chart(clock, { ...common, height: 140, scales: { x: { time: false }, y: { range: (_, __, most) => [0, most] } }, axes: [axis, { label: "minutes left" }], series: () => [{ label: "move", value: (_, t) => t == null ? "–" : Math.floor(t / 2) + 1 }, line("White", "--white-side", { value: (_, x) => x == null ? "–" : x.toFixed(1) }), line("Black", "--black-side", { dash: [8, 4], value: (_, x) => x == null ? "–" : x.toFixed(1) })] }, [at, left("white"), left("black")]));
  else clock.remove();
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
for (const button of document.querySelectorAll("[data-moment]")) button.addEventListener("click", () => moment(+button.dataset.moment));
const keys = { ArrowRight: () => show(aside ? ply : ply + 1), ArrowLeft: () => show(aside ? ply : ply - 1), Home: () => show(0), End: () => show(game.moves.length), f: flip, n: () => moment(1), p: () => moment(-1) };
document.addEventListener("keydown", event => {
  if (event.target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (act) { act(); event.preventDefault(); }
});
document.getElementById("moments").hidden = !moments.length;
document.getElementById("moment-count").textContent = `${moments.length} in this game`;
addEventListener("hashchange", () => show(+location.hash.slice(1) || 0));
draw();
if ((new URLSearchParams(location.search).get("side") || game.bottom) === "black") flip();
show(+location.hash.slice(1) || 0);
page.dataset.ready = "true";
