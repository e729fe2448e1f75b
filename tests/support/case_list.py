"""The quota, approval, slack and security cases by id, each in a line of our own, and those that have no test yet.

Read by tests/cases/test_case_list.py, which holds the marks of all tests to it.
"""

CASES = {
    "QUO-01": "a loan that became due while the bot was stopped is taken back once at start, and said to be late",
    "QUO-02": "of several loans over one base each end takes its own part and nothing else",
    "QUO-03": "a base changed by hand during a loan is asked about, left alone until answered, and never overwritten",
    "QUO-04": "a GitOps tool that undoes a loan is named before approval and reported once, without a fight",
    "QUO-05": "the same for a queue of a Helm release",
    "QUO-07": "two approvals at one moment for two flavors of one queue both arrive",
    "QUO-08": "a queue without a cohort has nothing to borrow, and that is said before anybody is asked",
    "QUO-10": "an extra loan over what the nodes have shows by how much, and takes an explicit consent",
    "QUO-11": "the end of a loan whose devices are in use says who keeps them, and claims nothing back",
    "QUO-12": "of several flavors one is asked for, one number changes, and every other quantity stays as written",
    "QUO-13": "amounts that are no small whole number are refused with what was understood",
    "QUO-15": "names of MIG resources survive typing, showing and the queue",
    "QUO-17": "both versions of Kueue's API are read and written, whichever are served",
    "QUO-19": "with several clusters the one meant is inferred or asked for, and named",
    "APP-01": "a press that is delivered twice decides once",
    "APP-02": "of an approval and a denial at one moment in two replicas one wins, and both are in the audit",
    "APP-03": "a decision changes the card, and the requester hears of it",
    "APP-05": "nobody approves their own request unless the policy lets them, and then it is flagged",
    "APP-07": "splitting a request gains nothing over an automatic rule",
    "APP-09": "a denial stays visible to the team, and who left it hears nothing more",
    "SLA-01": "a slow cluster does not delay the acknowledgement, and the answer comes later",
    "SLA-02": "Slack's pace is kept, nothing is lost, and approvals go before other messages",
    "SLA-04": "what phones make of quotes and dashes reads like the plain characters",
    "SLA-06": "who acts is a user id of the own workspace; guests and strangers decide nothing",
    "SLA-07": "with two processes connected each interaction is handled once",
    "SEC-01": "who may approve is checked at the press, and an empty list is nobody",
    "SEC-02": "a request that Slack did not sign, or signed long ago, changes nothing",
    "SEC-05": "other teams' queues are not asked for, and hidden ones not given away",
    "SEC-06": "a missing right on one queue is reported to the admins, and nothing wider is asked for",
    "SEC-08": "a flood of requests and a very long reason stay within limits",
}
NOT_YET: dict[str, str] = {}
