"""Fast twins of the models, compiled by numba. Each has a readable twin one folder up, and a test that they agree.

| fast | readable | the test that they agree |
|---|---|---|
| `agent.curves`, `agent.add_curves` | `agent.log_likelihood` | test_agent: the fast twin agrees |
| `curves.log_curve` | `curves.LossCurve.log_g` | test_curves: the fast twin agrees, its slopes too |
| `curves.scores`, `probability_columns`, `intervals` | `mappings.probabilities` and sums of them | test_mappings |
| `comparison.advance`, `comparison.posterior` | `comparison.update`, `passage_of_time` | test_comparison |
| `messages.sweep` | `comparison.message` | test_comparison: a sweep over one game is the message |
| `smoothing.rts`, `smoothing.eq14` | `comparison.rts_step`, `eq14_step` | test_comparison, test_periods |
| `counting`, `messages.links` | sorting and searching by numpy | test_comparison: counting in one pass |
"""
