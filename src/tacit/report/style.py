"""The one style sheet of the disclosure page: light, dark, phone and paper."""

from __future__ import annotations

from tacit.report.markup import Html

__all__ = ["STYLE"]

STYLE = Html("""
:root { color-scheme: light dark; --ink: #1c2733; --soft: #5b6b7b; --line: #dde3e9; --page: #ffffff; --card: #f5f7f9;
  --bar: #8fb8de; --whisker: #1f3b57; --warn: #9a3412; --accent: #1f5a8c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4eaf0; --soft: #9fb0c0; --line: #34414e; --page: #12181f;
  --card: #1b242d; --bar: #2f5f8f; --whisker: #cfe3f7; --warn: #f0a77b; --accent: #8fc1ee; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 46rem; padding: 1.5rem 1rem 3rem; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
h1 { font-size: 1.45rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; padding-bottom: .2rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
p { margin: .4rem 0; overflow-wrap: anywhere; }
.soft, .note { color: var(--soft); }
.note { font-size: .875rem; }
pre { margin: .8rem 0; padding: .7rem .9rem; background: var(--card); border-left: 3px solid var(--accent);
  white-space: pre-wrap; overflow-wrap: anywhere; font: .875rem/1.45 ui-monospace, Menlo, Consolas, monospace; }
code { font: .85em ui-monospace, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.promise { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: .6rem; margin: 1rem 0; }
.promise div { background: var(--card); padding: .6rem .8rem; border-radius: .4rem; }
.promise b { display: block; font-size: 1.1rem; }
.promise span { color: var(--soft); font-size: .875rem; }
.wide { overflow-x: auto; margin: .8rem 0; }
table { border-collapse: collapse; font-size: .9rem; width: 100%; }
th, td { text-align: left; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; }
td.number, th.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td.key { overflow-wrap: anywhere; min-width: 7rem; }
.method table { font-size: .8rem; }
summary { cursor: pointer; color: var(--accent); font-size: .9rem; margin: .4rem 0; }
td.weak { color: var(--warn); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: .4rem 0; font-size: .9rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
ul { margin: .4rem 0; padding-left: 1.2rem; font-size: .9rem; } li { margin: .3rem 0; }
svg.picture { width: 100%; max-width: 35rem; height: auto; display: block; font: 11px system-ui, sans-serif; }
svg .label { fill: var(--ink); } svg .tick { fill: var(--soft); font-size: 10px; }
svg .bar { fill: var(--bar); } svg .whisker { stroke: var(--whisker); stroke-width: 1.6; }
svg .grid { stroke: var(--line); stroke-width: .7; } svg .zero { stroke: var(--soft); stroke-width: 1; }
@media (max-width: 30rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; }
  svg.picture { font-size: 12px; } }
@media print { :root { color-scheme: light; --ink: #000; --soft: #444; --line: #bbb; --page: #fff; --card: #f3f3f3;
  --bar: #bcd3ea; --whisker: #1f3b57; --warn: #7c2d12; --accent: #1f5a8c; }
  body { max-width: none; padding: 0; font-size: 11pt; } .wide { overflow: visible; }
  tr, svg, .promise div, li { break-inside: avoid; } h2, h3 { break-after: avoid; }
  thead { display: table-header-group; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
""")
