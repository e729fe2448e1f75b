"""A strict stand-in for the Kubernetes API with Kueue: the test double of the adapter and the world of the demo.

    sim = KubeSim(clock)
    sim.add_cluster_queue("team-a", {"h100": {"nominal": 8, "borrowing": 4}}, cohort="pool")
    sim.handle("GET", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues")  # in process: (status, headers, JSON)
    sim.faults.plan(ResetAfter(), verb="patch")                      # the next patch lands, its answer is lost
    sim.reconcile()                                                  # Kueue works until nothing changes
    with KubeServer(sim) as server: ...                              # over HTTP: server.url, server.kubeconfig(path)

The way in is sim.py, with people.py for what people do, faults.py and rbac.py. A request goes through route, api,
writes or reads, gate and store; Kueue's side is controller, scheduler, assignment, preemption, evictions and jobs, over
cohorts.
"""
