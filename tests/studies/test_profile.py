"""Profiles over time: the priors are what they are called, the random walk is exact, and it foretells best."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm
from scipy.stats import t as student
from typer.testing import CliRunner

import skilloscope as sk
from skilloscope.chess.pgn.games import read_games
from skilloscope.cli.app import app
from skilloscope.core.errors import GridError, InputError
from skilloscope.decision import Decisions
from skilloscope.decision.text import write_decisions
from skilloscope.evidence import Evidence, EvidenceTable, Grid, Normal, Posterior, Uniform, agent_evidence
from skilloscope.evidence.lattice import (
    PERIOD_PRIORS,
    Lattice,
    PeriodEvidence,
    backward,
    filter_histories,
    fit_drift,
    forward,
    lattice_for,
    reflected_walk,
    walk_kernel,
)
from skilloscope.evidence.periods import column_periods, date_periods
from skilloscope.evidence.scales import scale
from skilloscope.inputs.bundled import analyses_file, demo_file
from skilloscope.inputs.load import EngineJob, load_decisions, renamed
from skilloscope.models.agent import Agent
from skilloscope.papers import ENTRIES, reproduce
from skilloscope.papers.dfh13_profiles import PLAYERS
from skilloscope.papers.harness import Budget
from skilloscope.results.aliases import aliases_given
from skilloscope.simulate.deciders import Career, simulate_career
from skilloscope.studies.agent_ratings import rate_decisions as rate
from skilloscope.studies.profile import agent_profile, competence_profile

DEFAULT = scale("default")
GRID = Grid(0.0, 4.0, 96)


def normal_evidence(mean: float, sd: float, decisions: int = 10) -> Evidence:
    """Return evidence whose likelihood is a normal curve: every filter of it is known in closed form."""
    return Evidence(GRID, -0.5 * ((GRID.nodes - mean) / sd) ** 2, decisions)


def history(means: list[float], sds: list[float], times: list[float] | None = None) -> PeriodEvidence:
    found = [normal_evidence(mean, sd) for mean, sd in zip(means, sds, strict=True)]
    return PeriodEvidence(np.array(times or range(len(means)), dtype=float), found)


def chess_career(seed: int = 3, name: str = "Ann", **options: object) -> Career:
    """Return a career that says it is chess under the default scale's engine, with dates and Elo in the headers."""
    career = simulate_career(np.random.default_rng(seed), name=name, years=(6, 9), games=(2, 5), **options)  # type: ignore[arg-type]
    context = career.decisions.context
    year = context["year"].to_pylist()
    columns = {
        "date": [f"{y}.{1 + i % 12:02d}.??" for i, y in enumerate(year)],
        "event": [f"Open {i % 2}" for i in range(len(year))],
        "elo": pa.array([2000 + y % 10 for y in year]),
    }
    for column, values in columns.items():
        context = context.append_column(column, values if isinstance(values, pa.Array) else pa.array(values))
    about = {"domain": "chess", "settings": dict(DEFAULT.settings)}
    return replace(career, decisions=replace(career.decisions, context=context, about=about))


class TestThePapersPriors:
    def test_carry_is_the_posterior_of_all_evidence_so_far(self):
        told = history([1.0, 1.5, 1.2], [0.2, 0.3, 0.1])
        (found,), drift = filter_histories([told], "carry")
        assert drift is None
        together = told.evidences[0] + told.evidences[1] + told.evidences[2]
        assert found.posteriors[-1].mean == pytest.approx(together.posterior().mean, abs=1e-9)
        assert found.posteriors[-1].sd == pytest.approx(together.posterior().sd, abs=1e-9)

    def test_widen_doubles_the_sd_once_per_period_with_decisions_whatever_the_gap(self):
        (near,), _ = filter_histories([history([1.0, 1.5], [0.1, 0.3])], "widen")
        (far,), _ = filter_histories([history([1.0, 1.5], [0.1, 0.3], [1950, 1990])], "widen")
        by_hand = normal_evidence(1.5, 0.3).posterior(Normal(near.posteriors[0].mean, 2 * near.posteriors[0].sd, 0, 4))
        assert near.posteriors[1].mean == pytest.approx(by_hand.mean, abs=1e-9)
        assert far.posteriors[1].mean == near.posteriors[1].mean

    def test_reset_forgets_and_every_prior_begins_with_the_uniform(self):
        told = history([1.0, 1.5], [0.2, 0.3])
        (found,), _ = filter_histories([told], "reset")
        assert found.posteriors[1].mean == told.evidences[1].posterior().mean
        for prior in PERIOD_PRIORS:
            (one,), _ = filter_histories([told], prior)
            assert one.past_only[0].mean == pytest.approx(told.evidences[0].posterior().mean, abs=1e-5)

    def test_scores_are_the_log_probabilities_of_the_period_given_the_past(self):
        told = history([1.0, 1.3], [0.1, 0.2])
        (carry,), _ = filter_histories([told], "carry")
        (reset,), _ = filter_histories([told], "reset")
        bell = np.log(0.2 * np.sqrt(2 * np.pi))  # the evidence is a density up to this constant
        assert carry.log_scores[1] == pytest.approx(norm.logpdf(1.3, 1.0, np.hypot(0.1, 0.2)) + bell, abs=1e-6)
        assert reset.log_scores[1] == pytest.approx(bell - np.log(4), abs=1e-6)

    def test_an_unknown_prior_is_refused_with_the_names(self):
        with pytest.raises(InputError) as caught:
            filter_histories([history([1.0], [0.1])], "hope")
        assert "carry, widen, reset, drift" in caught.value.hint


class TestTheRandomWalk:
    @given(variance=st.floats(0, 2000), cells=st.integers(5, 120))
    def test_a_step_keeps_all_mass_is_symmetric_and_never_negative(self, variance, cells):
        step = reflected_walk(variance, cells)
        assert np.abs(step.sum(axis=0) - 1).max() < 1e-9
        assert np.array_equal(step, step.T)
        assert step.min() >= 0

    def test_two_steps_are_one_step_of_the_sum_so_gaps_of_any_length_are_exact(self):
        assert reflected_walk(3.0, 80) @ reflected_walk(4.5, 80) == pytest.approx(reflected_walk(7.5, 80), abs=1e-14)

    @given(variance=st.floats(1e-6, 400))
    def test_the_variance_is_what_was_asked_for_even_far_below_a_cell(self, variance):
        kernel = walk_kernel(variance, 2000)
        assert 2 * (np.arange(len(kernel)) ** 2 * kernel).sum() == pytest.approx(variance, rel=1e-6)

    def test_filter_and_smoother_equal_the_kalman_and_rauch_tung_striebel_recursions(self):
        means, sds, times = [1.8, 2.2, 1.9, 2.4], [0.10, 0.15, 0.12, 0.10], [0.0, 1.0, 4.0, 4.5]
        told, drift = history(means, sds, times), 0.08
        lattice = Lattice(0.0, 4.0, 800)
        logs = told.at(lattice.centres)
        walk = forward(lattice, logs, np.diff(told.times), drift)
        smoothed = backward(walk, logs, np.diff(told.times))
        m, v = [means[0]], [sds[0] ** 2]
        for t in range(1, 4):
            before = v[-1] + drift**2 * (times[t] - times[t - 1])
            gain = before / (before + sds[t] ** 2)
            m.append(m[-1] + gain * (means[t] - m[-1]))
            v.append(before * (1 - gain))
        back_m, back_v = [m[-1]], [v[-1]]
        for t in (2, 1, 0):
            before = v[t] + drift**2 * (times[t + 1] - times[t])
            gain = v[t] / before
            back_m.insert(0, m[t] + gain * (back_m[0] - m[t]))
            back_v.insert(0, v[t] + gain**2 * (back_v[0] - before))
        for row, mean, variance in zip([*walk.filtered, *smoothed], m + back_m, v + back_v, strict=True):
            assert (row * lattice.centres).sum() == pytest.approx(mean, abs=1e-4)
            spread = (row * lattice.centres**2).sum() - (row * lattice.centres).sum() ** 2
            assert np.sqrt(spread) == pytest.approx(np.sqrt(variance), rel=2e-3)

    def test_no_drift_is_carry_and_a_single_period_cannot_show_one(self):
        told = history([1.0, 1.3, 1.1], [0.2, 0.2, 0.2])
        (carry,), _ = filter_histories([told], "carry")
        lattice = lattice_for([told.evidences], 0.0, 4.0)
        walk = forward(lattice, told.at(lattice.centres), np.diff(told.times), 0.0)
        assert lattice.posterior(walk.filtered[-1], prior="").mean == pytest.approx(carry.posteriors[-1].mean, abs=1e-5)
        with pytest.raises(InputError, match="single period"):
            filter_histories([history([1.0], [0.1])], "drift")

    def test_the_drift_of_many_careers_is_recovered_and_its_interval_holds_it(self):
        rng = np.random.default_rng(11)
        told = []
        for _ in range(12):
            c = 2.0 + np.cumsum(rng.normal(0, 0.08, 20))
            told.append(history((c + rng.normal(0, 0.1, 20)).tolist(), [0.1] * 20))
        _, drift = filter_histories(told, "drift")
        assert drift is not None
        assert drift.sd == pytest.approx(0.08, rel=0.2)
        assert drift.high is not None
        assert drift.low < 0.08 < drift.high

    def test_evidence_that_contradicts_itself_wildly_still_has_a_finite_likelihood(self):
        told = history([0.5, 3.5, 0.5], [0.02, 0.02, 0.02])
        (found,), drift = filter_histories([told], "drift")
        assert drift is not None
        assert np.all(np.isfinite(found.log_scores))
        assert found.posteriors[1].mean == pytest.approx(3.5, abs=0.01)

    def test_a_period_too_sharp_for_the_cells_is_refused(self):
        with pytest.raises(GridError, match="so many decisions"):
            lattice_for([[Evidence(Grid(0, 4, 768), -0.5 * ((Grid(0, 4, 768).nodes - 1) / 5e-4) ** 2, 1)]], 0.0, 4.0)

    def test_an_interval_is_open_above_where_the_likelihood_does_not_fall(self):
        lattice = Lattice(0.0, 4.0, 200)
        told = history([0.3, 3.7], [0.2, 0.2])
        drift = fit_drift(lattice, [told.at(lattice.centres)], [told.times])
        assert drift.high is None


def test_smoothed_intervals_cover_the_true_competence():
    rng = np.random.default_rng(21)
    hits = trials = 0
    for _ in range(12):
        career = simulate_career(rng, years=(10, 14), games=(4, 20), drift=(0.05, 0.05))
        found = competence_profile(career.decisions, every="year").players[0]
        for one in found.periods:
            low, high = one.posterior.interval(0.8)
            hits += low <= career.truth[int(one.period)] <= high
            trials += 1
    # Neighbouring years share their evidence, so there are fewer independent trials than years: a third is assumed.
    assert binomtest(round(hits / 3), round(trials / 3), 0.8).pvalue > 1e-3


def career_scores(
    career: Career, *, rng: np.random.Generator, dispersion: float = 1.0
) -> dict[str, tuple[float, float]]:
    """Return each prior's log score per decision: of the next period, and of decisions held out inside the periods."""
    batch, grid = career.decisions, Grid()
    whole = by_year(batch, grid)
    held = rng.random(len(batch)) < 0.25
    kept, out = by_year(batch.select(~held), grid), by_year(batch.select(held), grid)
    found = {}
    for prior in PERIOD_PRIORS:
        (ahead,), _ = filter_histories([by_year_history(whole)], prior, dispersion=dispersion)
        (inside,), _ = filter_histories([by_year_history(kept)], prior, dispersion=dispersion)
        later = whole.decisions[1:].sum()
        pairs = [(p, out[year]) for p, year in zip(inside.posteriors, kept, strict=True) if year in out.labels]
        within = sum(expected_log_score(posterior, one) for posterior, one in pairs)
        found[prior] = (
            float(ahead.log_scores[1:].sum() / later),
            float(within / sum(one.decisions for _, one in pairs)),
        )
    return found


def score_differences(scores: list[dict[str, tuple[float, float]]]) -> dict:
    """Return by how much `drift` is better than each other prior: mean over careers with its t interval."""
    report = {}
    for place, kind in enumerate(("next_period", "held_out")):
        for other in (name for name in scores[0] if name != "drift"):
            gains = np.array([one["drift"][place] - one[other][place] for one in scores])
            half = student.ppf(0.975, len(gains) - 1) * gains.std(ddof=1) / np.sqrt(len(gains))
            mean = float(gains.mean())
            report[f"{kind}, {other}"] = {"mean": mean, "low": mean - float(half), "high": mean + float(half)}
    return report


def expected_log_score(posterior: Posterior, one: Evidence) -> float:
    """log ∫ p(c)·p(decisions | c) dc under a posterior that is given on its own grid."""
    logs = one.log_likelihood(posterior.at)
    weight = posterior.density / posterior.density.sum()
    return float(np.log((weight * np.exp(logs - logs.max())).sum()) + logs.max())


def by_year(batch: Decisions, grid: Grid) -> EvidenceTable:
    return agent_evidence(batch, Agent(), grid, by="year")


def by_year_history(table: EvidenceTable) -> PeriodEvidence:
    return PeriodEvidence(np.array(list(table), dtype=float), [table[year] for year in table])


def differences(careers: int, dispersion: float = 1.0, **options) -> dict:
    rng = np.random.default_rng(100)
    made = (simulate_career(rng, **options) for _ in range(careers))
    return score_differences([career_scores(career, rng=rng, dispersion=dispersion) for career in made])


def test_the_random_walk_foretells_better_than_the_papers_priors():
    found = differences(10, years=(8, 20), games=(2, 20))
    assert {name: one["mean"] > 0 for name, one in found.items()} == dict.fromkeys(found, True)


@pytest.mark.soak
@pytest.mark.parametrize(("between_games", "dispersion"), [(0.0, 1.0), (0.1, 1.243)])
def test_over_a_hundred_careers_the_random_walk_is_better_beyond_doubt(between_games, dispersion):
    found = differences(100, dispersion, between_games=between_games)
    for name, one in found.items():
        print(f"drift minus {name}: {1000 * one['mean']:.2f} ({1000 * one['low']:.2f} to {1000 * one['high']:.2f})")
    assert {name: one["low"] > 0 for name, one in found.items()} == dict.fromkeys(found, True)


class TestPeriods:
    def test_years_months_and_events_are_told_apart_and_what_has_no_date_is_counted(self):
        batch = Decisions.from_lists(
            ["Ann"] * 5,
            [[0.0, -0.5]] * 5,
            [0] * 5,
            context={
                "date": ["1972.07.11", "1971.??.??", None, "1972.09.01", "1972.07.30"],
                "year": [1972, 1971, None, 1972, 1972],
                "event": ["Match", "Open", "Open", "Match", None],
            },
        )
        years = date_periods(batch, "year")
        assert (list(years.names), years.times.tolist()) == (["1971", "1972"], [1971.0, 1972.0])
        assert years.decisions.skipped == {"no date": 1}
        months = date_periods(batch, "month")
        assert list(months.names) == ["1972-07", "1972-09"]
        assert months.decisions.skipped == {"no date": 1, "no month in the date": 1}
        events = date_periods(batch, "event")
        assert list(events.names) == ["Open 1971", "Match 1972"]
        assert events.decisions.skipped == {"no date": 1, "no event": 1}
        with pytest.raises(InputError, match="no periods by 'week'"):
            date_periods(batch, "week")

    @pytest.mark.parametrize(
        ("values", "names", "times", "unit"),
        [
            ([3, 1, None, 2.5], ["1", "2.5", "3"], [1.0, 2.5, 3.0], "when"),
            (["2020-07", "2019", "2020-01", None], ["2019", "2020-01", "2020-07"], None, "year"),
            (["late", "early", "late", None], ["late", "early"], [0.0, 1.0], "step of when"),
        ],
    )
    def test_any_column_makes_periods_numbers_dates_or_names(self, values, names, times, unit):
        batch = Decisions.from_lists(["Ann"] * 4, [[0.0, -0.5]] * 4, [0] * 4, context={"when": values})
        found = column_periods(batch, "when")
        assert (list(found.names), found.unit) == (names, unit)
        assert times is None or found.times.tolist() == times
        assert found.decisions.skipped == {"no when": 1}


class TestProfile:
    def test_a_year_alone_has_the_elo_that_rating_by_year_gives_it(self):
        career = chess_career()
        found = agent_profile(career.decisions, prior="reset").players[0]
        rated = {one.player: one for one in rate(career.decisions, by="year", prior="flat").players}
        for one in found.periods:
            assert one.scaled is not None
            own = rated[one.period].elo
            if own.edge is None:  # at an end of the range it matters whether the evidence or the posterior was widened
                assert one.scaled.mean == pytest.approx(own.mean, abs=1.0)
            assert one.part.games == rated[one.period].games
            assert one.part.header_elo == pytest.approx(2000 + int(one.period) % 10)

    def test_periods_without_games_are_gaps(self):
        career = chess_career(pause=0.6)
        played = {str(year) for year in career.decisions.column("year").to_pylist()}
        found = agent_profile(career.decisions, prior="carry").players[0]
        assert [one.period for one in found.periods] == sorted(played)
        assert len(played) < len(career.truth)

    def test_the_drift_is_common_to_all_players_and_the_sum_of_decisions_is_kept(self):
        one, two = chess_career(3, "Ann"), chess_career(4, "Bob")
        both = agent_profile(Decisions.concat([one.decisions, two.decisions]), players=["Bob", "Ann"])
        assert [player.player for player in both.players] == ["Bob", "Ann"]
        report = both.as_dict()
        assert report["drift"]["drift_unit"] == "year"
        assert sum(p["decisions"] for p in report["players"]) == len(one.decisions) + len(two.decisions)
        assert report["dispersion"] == DEFAULT.dispersion
        json.dumps(report, allow_nan=False)

    def test_dispersion_widens_and_one_believes_in_full(self):
        batch = chess_career().decisions
        wide, full = (
            agent_profile(batch, prior="reset", dispersion=d).players[0].periods[0].part.posterior.sd
            for d in (None, 1.0)
        )
        assert wide > full
        with pytest.raises(InputError, match="dispersion"):
            agent_profile(batch, dispersion=0.0)

    def test_months_and_events_have_profiles_too(self):
        batch = chess_career().decisions
        assert len(agent_profile(batch, every="event", prior="widen").players[0].periods) > 3
        assert len(agent_profile(batch, every="month", prior="carry").players[0].periods) > 12

    def test_who_has_no_dated_decision_is_refused_by_name(self):
        with pytest.raises(InputError, match="Eve"):
            agent_profile(chess_career().decisions, players=["Eve"])

    def test_figures_and_page_show_every_player_and_prior_and_need_nothing_from_elsewhere(self):
        batch = Decisions.concat([chess_career(3, "Ann").decisions, chess_career(4, "B$b<").decisions])
        found = agent_profile(batch)
        drawn, panels = found.figures()
        assert drawn.svg() == drawn.svg()
        assert all(f"<!-- {prior}: " in panels.svg() for prior in PERIOD_PRIORS)
        page = found.page("two simulated players")
        assert "B$b&lt;" in page
        assert "drift of c in one year: sd" in page
        assert "http" not in page.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
            "http://creativecommons.org", ""
        )
        rows = found.tables()[0].rows
        assert len(rows) == sum(len(player.periods) for player in found.players) == found.to_arrow().num_rows


class TestPlayersOfGames:
    def test_spellings_become_one_player(self):
        assert aliases_given(["Bobby=Fischer, Robert James", "B F = Fischer, Robert James"])["B F"].startswith(
            "Fischer"
        )
        with pytest.raises(InputError, match="alias"):
            aliases_given(["Bobby"])
        batch = renamed(Decisions.from_lists(["A", "B", "C"], [[0.0, -1.0]] * 3, [0, 1, 0]), {"B": "A"})
        assert batch.names() == ["A", "C"]

    def test_only_the_wanted_players_moves_are_taken_and_faults_are_counted_once(self, tmp_path):
        path = tmp_path / "games.pgn"
        path.write_text(dated(3) + '[White "X"]\n\n1. e4 Qh9 *\n')
        work = EngineJob(store=tmp_path / "store.sqlite", imports=(analyses_file(),))
        two, four = "simulated, c = 2.0", "simulated, c = 0.6"
        judged = load_decisions([path], work, player=[two, "Weak"], aliases={four: "Weak"})
        assert set(judged.decisions.names()) <= {two, "Weak"}
        assert len(judged.decisions.tally.faults) == 1
        table = tmp_path / "table.parquet"
        write_decisions(judged.decisions, table)
        again = load_decisions([path, table], work, player=[two, "Weak"], aliases={four: "Weak"})
        assert len(again.decisions) == len(judged.decisions)
        assert again.decisions.skipped["decision given twice"] == len(judged.decisions)
        with pytest.raises(InputError, match="Nobody"):
            load_decisions([path], work, player=["Nobody"])


def dated(count: int) -> str:
    """Return the first shipped games with a year each."""
    games = demo_file("simulated.pgn").read_text().split("[Event ")[1 : count + 1]
    return "".join(f"[Event {text.replace('????.??.??', f'{2001 + i}.05.??')}" for i, text in enumerate(games))


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    return result.exit_code, result.stdout, result.stderr


def test_the_command_follows_players_through_their_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere/stockfish")
    path = tmp_path / "career.pgn"
    path.write_text(dated(10))
    assert len(read_games(path)) == 10
    common = (path, "--player", "simulated, c = 2.0", "--import", analyses_file(), "--method", "agent")
    code, out, err = run("profile", *common, "--json", "--html", tmp_path / "page.html")
    assert code == 0, err
    report = json.loads(out)
    assert [one["time"] for one in report["players"][0]["periods"]] == sorted(
        one["time"] for one in report["players"][0]["periods"]
    )
    assert "Under every prior" in (tmp_path / "page.html").read_text()
    code, out, _ = run("profile", *common, "--prior", "carry", "--per", "month")
    assert code == 0
    assert "2001-05" in out
    for wrong in (("--prior", "hope"), ("--per", "week"), ("--level", "2"), ("--alias", "x")):
        assert run("profile", *common, *wrong)[0] == 2


def test_the_command_for_any_domain_takes_its_periods_from_a_column(tmp_path: Path):
    lines = [
        {"decider": "Ann", "season": 1 + i // 10, "utilities": [5.0, 4.0, 1.0], "chosen": int(i % 3 == 0)}
        for i in range(40)
    ]
    path = tmp_path / "table.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    code, out, _ = run("decisions", "profile", path, "--per", "season", "--k", 1, "--json")
    assert code == 0
    report = json.loads(out)
    assert [one["period"] for one in report["players"][0]["periods"]] == ["1", "2", "3", "4"]
    assert report["scale"] is None
    assert run("decisions", "profile", path, "--per", "year")[0] == 1


def test_reproduction_is_empty_without_games_and_says_what_it_needs():
    done = reproduce(ENTRIES, "DFH13.figure6", Budget()).as_dict()
    assert done["entries"][0]["rows"] == []
    assert any("--data" in note for note in done["entries"][0]["notes"])


def test_the_papers_figures_are_drawn_from_what_is_known_of_the_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere/stockfish")
    (tmp_path / "players").mkdir()
    for player, (file, _) in PLAYERS.items():
        text = dated(10).replace("simulated, c = 1.4", player).replace("simulated, c = 0.6", player)
        text = text.replace('[Date "2', '[WhiteElo "2500"]\n[BlackElo "2510"]\n[Date "2').replace(
            '"2009.05', '"2007.05'
        )
        (tmp_path / "players" / file).write_text(text)
    work = EngineJob(store=tmp_path / "store.sqlite", imports=(analyses_file(),))
    done = reproduce(ENTRIES, "DFH13.figure6", Budget(data=tmp_path, work=work))
    rows = {row["label"]: row for row in done.as_dict()["entries"][0]["rows"]}
    assert 0 < rows["games"]["ours"] < 4 * 10
    assert rows["games"]["within"] is None
    assert any(label.startswith("Fischer, Robert James, drift, ") for label in rows)
    assert "carry: the prior of each period is" in done.page()


def test_uniform_on_the_range_is_what_a_profile_begins_with():
    found = agent_profile(chess_career().decisions, prior="carry")
    low, high = found.as_dict()["range"]
    assert found.players[0].periods[0].part.posterior.prior == str(Uniform(low, high))
    assert DEFAULT.elo([low, high]) == pytest.approx([400, 3600])


def test_python_has_what_the_command_shows(tmp_path: Path):
    path = tmp_path / "career.pgn"
    path.write_text(dated(6))
    code, out, _ = run("profile", path, "--player", "c = 2.0", "--effort", "instant", "--json")
    assert code == 0
    study = sk.profile(path, "c = 2.0", effort="instant")
    assert json.loads(json.dumps(study.as_dict())) == json.loads(out)
    assert {"player", "period", "elo", "elo_low", "elo_high"} <= set(study.to_arrow().column_names)
    with pytest.raises(InputError, match="needs a player"):
        sk.profile(path, effort="instant")


def test_decisions_have_the_agents_competence_and_elo_on_a_scale():
    batch = chess_career().decisions
    study = sk.profile(batch, "Ann")
    assert {"c", "past_only", "elo"} <= set(study.as_dict()["players"][0]["periods"][0])
    by_column = sk.profile(replace(batch, context=batch.context.rename_columns({"year": "season"})), every="season")
    assert "elo" not in by_column.as_dict()["players"][0]["periods"][0]
    with pytest.raises(InputError, match="no effort"):
        sk.profile(batch, effort="instant")
