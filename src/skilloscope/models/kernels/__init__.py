"""Fast twins of the models, compiled by numba. Each has a readable twin one folder up, and a test that they agree.

| fast | readable | the test that they agree |
|---|---|---|
| `choices.curves`, `choices.add_curves` | `agent.log_likelihood` | test_agent: the fast twin agrees |
| `choices.add_joint_curves` | `joint.log_choice` | test_joint |
| `curves.log_curve` | `curves.LossCurve.log_g` | test_curves: the fast twin agrees, its slopes too |
| `curves.scores`, `probability_columns`, `intervals` | `curves.probabilities` and sums of them | test_curve_model |
| `paired_comparison.advance`, `posterior` | `paired_comparison.update`, `passage_of_time` | test_paired_comparison |
| `histories.sweep` | `paired_comparison.message` | test_paired_comparison: a sweep over one game is the message |
| `histories.rts`, `histories.eq14` | `paired_comparison.rts_step`, `eq14_step` | test_paired_comparison, test_periods |
| `histories.links` and counting | sorting and searching by numpy | test_paired_comparison: counting in one pass |
"""
