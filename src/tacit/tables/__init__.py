"""From a table to a private answer: policy, query tree, bounding, pricing, engines, sessions.

Layer 4. The path of a question: SQL or Python → `query.Query` → `checks` against the `policy.Policy` → `plan.Plan`
(estimators, `bounded.BoundedQuery`, price) → the ledger is debited → an engine returns integers → noise →
`answer.Answer`.
"""
