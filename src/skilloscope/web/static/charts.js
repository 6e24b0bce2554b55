// Charts of numbers that the page also holds as a table: fetched from the page's own JSON.
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const whole = value => value == null ? "–" : Math.round(value).toString();

export function chart(place, options, data) {
  const make = () => {
    const ink = css("--soft"), grid = { stroke: css("--line"), width: 1 };
    const axes = options.axes.map(axis => ({ stroke: ink, grid, ticks: grid, ...axis }));
    place.replaceChildren();
    const settings = { width: place.clientWidth, height: 240, cursor: { y: false }, ...options, axes, series: options.series(), bands: options.bands ? options.bands() : undefined };
    const drawn = new uPlot(settings, data, place);
    for (const row of place.querySelectorAll(".u-legend .u-series")) row.hidden = row.querySelector(".u-label").textContent === EDGE;
    return drawn;
  };
  let drawn = make();
  new ResizeObserver(() => drawn.setSize({ width: place.clientWidth, height: options.height || 240 })).observe(place);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { drawn.destroy(); drawn = make(); });
  return { get plot() { return drawn; } };
}

const EDGE = "edge";
export const line = (label, name, more = {}) => ({ label, stroke: css(name), width: 2, points: { show: false }, value: (_, value) => whole(value), ...more });
export const edge = name => ({ label: EDGE, stroke: css(name), width: .5, points: { show: false }, value: (_, value) => whole(value) });

async function json(place) { return (await fetch(place.dataset.json)).json(); }

const games = document.getElementById("games-chart");
if (games) json(games).then(found => {
  const known = found.games.filter(game => game.elo);
  const at = known.map((_, i) => i + 1), elo = known.map(game => game.elo);
  chart(games, {
    scales: { x: { time: false }, y: { range: [400, 3300] } },
    axes: [{ label: "game", incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] }, { label: "Elo" }],
    series: () => [{ label: "game" }, line("Elo of the game", "--white-side", { width: 0, points: { show: true, size: 7, fill: css("--white-side") } }), edge("--white-side"), edge("--white-side"), line("all together", "--black-side", { dash: [6, 4] })],
    bands: () => [{ series: [3, 2], fill: css("--band-white") }],
  }, [at, elo.map(e => e.elo), elo.map(e => e.elo_low), elo.map(e => e.elo_high), at.map(() => found.rating ? found.rating.elo : null)]);
});

const compare = document.getElementById("compare-chart");
if (compare) json(compare).then(found => {
  const grid = Array.from({ length: 291 }, (_, i) => 400 + 10 * i);
  const curve = kept => grid.map(x => { const n = kept.at.length, step = (kept.at[n - 1] - kept.at[0]) / (n - 1), i = (x - kept.at[0]) / step, k = Math.floor(i); return k < 0 || k >= n - 1 ? 0 : kept.density[k] + (i - k) * (kept.density[k + 1] - kept.density[k]); });
  const [one, two] = found.players;
  chart(compare, {
    scales: { x: { time: false } },
    axes: [{ label: "Elo" }, { show: false }],
    series: () => [{ label: "Elo" }, line(one.player, "--white-side", { fill: css("--band-white"), value: () => "" }), line(two.player, "--black-side", { fill: css("--band-black"), dash: [8, 4], value: () => "" })],
  }, [grid, curve(one.posterior), curve(two.posterior)]);
});

const history = document.getElementById("history-chart");
if (history) json(history).then(found => {
  const rows = found.history, at = rows.map((_, i) => i);
  chart(history, {
    scales: { x: { time: false } },
    axes: [{ incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500], values: (_, ticks) => ticks.map(i => Number.isInteger(i) && rows[i] ? String(rows[i].period) : "") }, { label: "rating" }],
    series: () => [{ label: "period", value: (_, i) => i == null ? "–" : String(rows[i].period) }, line("rating", "--white-side"), edge("--white-side"), edge("--white-side")],
    bands: () => [{ series: [3, 2], fill: css("--band-white") }],
  }, [at, rows.map(r => r.rating), rows.map(r => r.rating - 2 * r.rd), rows.map(r => r.rating + 2 * r.rd)]);
});

for (const place of document.querySelectorAll("[data-progress]")) json(place).then(found => {
  const pool = found.study.pools[+place.dataset.progress], rows = pool.periods, at = rows.map((_, i) => i);
  chart(place, {
    scales: { x: { time: false } },
    axes: [{ incrs: [1, 2, 3, 6, 12, 24], values: (_, ticks) => ticks.map(i => Number.isInteger(i) && rows[i] ? rows[i].period : "") }, { label: "Elo" }],
    series: () => [{ label: pool.every, value: (_, i) => i == null ? "–" : rows[i].period }, line("Elo by the moves", "--white-side", { points: { show: true, size: 7 } }), edge("--white-side"), edge("--white-side"), line("official rating", "--black-side", { dash: [6, 4], points: { show: true, size: 5 } })],
    bands: () => [{ series: [3, 2], fill: css("--band-white") }],
  }, [at, rows.map(r => r.elo), rows.map(r => r.elo_low), rows.map(r => r.elo_high), rows.map(r => r.header_elo)]);
});
