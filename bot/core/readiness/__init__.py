"""Who would lose work if GPUs were taken back: what is judged, the checks, and what they found.

Facts come from adapters/kube/readiness, one `ClusterFacts` a cluster; `judge.judge` is the only way in.
"""
