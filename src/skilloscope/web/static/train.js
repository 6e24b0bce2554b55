// One's own mistakes as puzzles: the server weighs the move that is tried, and keeps when a puzzle comes again.
import { ask, MoveBoard, whole } from "/static/moveboard.js";

const page = document.getElementById("train"), verdict = document.getElementById("verdict"), from = document.getElementById("from");
const next = document.getElementById("next"), solution = document.getElementById("solution");
const { puzzles } = await (await fetch(page.dataset.json)).json();
let at = -1, puzzle = null, legal = {}, first = true, solved = 0;
const board = new MoveBoard(tried);

async function show() {
  at += 1; first = true; next.hidden = true; solution.hidden = false;
  if (at >= puzzles.length) {
    verdict.textContent = `Done: ${solved} of ${puzzles.length} solved at the first try.`;
    document.getElementById("place").textContent = "Done"; from.textContent = ""; solution.hidden = true;
    board.show({ fen: board.fen, side: puzzle.side });
    return;
  }
  puzzle = puzzles[at];
  document.getElementById("place").textContent = `Puzzle ${at + 1} of ${puzzles.length}`;
  from.textContent = [`${puzzle.white || "?"} – ${puzzle.black || "?"}`, puzzle.date].filter(Boolean).join(", ");
  await set(`${puzzle.side === "white" ? "White" : "Black"} to move. ${puzzle.number} ${puzzle.played_san} was played, and the winning chances fell from ${whole(puzzle.chances)} to ${whole(puzzle.chances_after)}. What is better?`);
}

async function set(words) {
  try {
    const found = await ask("/api/reply", { elo: 1500, side: puzzle.side, fen: puzzle.fen });
    legal = found.legal;
    board.show({ fen: puzzle.fen, legal, side: puzzle.side });
    verdict.textContent = words; board.words.focus({ preventScroll: true });
  } catch (error) { verdict.textContent = error.message; }
}

async function tried(uci, san) {
  if (uci === puzzle.played) { keep(false); await set(`${san} was played in the game. It drops the winning chances to ${whole(puzzle.chances_after)}. Try another move.`); return; }
  verdict.textContent = `Checking ${san}…`;
  try {
    const found = await ask("/api/weigh", { fen: puzzle.fen, move: uci, best: puzzle.best });
    keep(found.right);
    if (found.right) end(uci === puzzle.best ? `Right: ${san}.` : `Right: ${san} is as good as ${puzzle.best_san}.`, found.fen, uci);
    else await set(found.lost == null ? `${san} is not the best move. Try another one.` : `${san} costs ${whole(found.lost)} of the winning chances. Try another move.`);
  } catch (error) { verdict.textContent = error.message; }
}

function end(words, fen, last) {
  verdict.textContent = `${words}${puzzle.line ? ` The main line: ${puzzle.line}.` : ""}`;
  board.show({ fen, last, side: puzzle.side });
  board.arrows([{ move: puzzle.best, colour: "blue" }]);
  next.hidden = false; solution.hidden = true; next.textContent = at + 1 < puzzles.length ? "Next puzzle" : "Finish"; next.focus();
}

// The first try decides when the puzzle comes again.
function keep(right) {
  if (!first) return;
  first = false; solved += right ? 1 : 0;
  if (puzzle.name) ask("/api/train", { mistake: puzzle.name, solved: right }).catch(error => { from.textContent = error.message; });
}

next.addEventListener("click", show);
solution.addEventListener("click", () => { keep(false); end(`${puzzle.best_san} was better.`, puzzle.fen, ""); });
await show();
page.dataset.ready = "true";
