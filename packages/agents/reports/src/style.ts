/** The style sheet of every report: light and dark, one column on a phone, two beside each other where there is room. */
export const STYLE = `
:root{color-scheme:light dark;--ground:#fbfbfa;--card:#fff;--ink:#1c1d1f;--soft:#5c6066;--line:#dcdee0;
--plus:#13673a;--plus-ground:#e5f4ea;--minus:#9c2320;--minus-ground:#fbe9e7;--change:#7a5200;--change-ground:#fbf1db;--a:#1c5fb0;--b:#b4450a}
@media (prefers-color-scheme:dark){:root{--ground:#15171a;--card:#1d2024;--ink:#e6e7e9;--soft:#a2a7ae;--line:#33373d;
--plus:#7fd6a1;--plus-ground:#14301f;--minus:#f4a39c;--minus-ground:#3a1a18;--change:#ecc77a;--change-ground:#352a11;--a:#7db4f5;--b:#f2a06b}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
main{max-width:78rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .25rem}
h2{font-size:1.15rem;margin:2rem 0 .5rem}
h3{font-size:1rem;margin:1.25rem 0 .4rem}
p{margin:.35rem 0}
.soft{color:var(--soft)}
code,pre,td.id{font-family:ui-monospace,monospace;font-size:.86em}
pre{white-space:pre-wrap;margin:.35rem 0 0;max-height:24rem;overflow:auto}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%}
th,td{overflow-wrap:normal;text-align:left;padding:.3rem .75rem .3rem 0;border-bottom:1px solid var(--line);vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
.pair{display:grid;grid-template-columns:1fr;gap:1rem}
@media (min-width:56rem){.pair{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}}
.card{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem;min-width:0}
.node{border-left:.25rem solid var(--line);border-radius:.25rem;padding:.4rem .7rem;margin:.5rem 0;min-width:0}
.node.added{border-color:var(--plus);background:var(--plus-ground)}
.node.removed{border-color:var(--minus);background:var(--minus-ground)}
.node.changed{border-color:var(--change);background:var(--change-ground)}
.node.alike{border-left-style:dashed}
.added b{color:var(--plus)}.removed b{color:var(--minus)}.changed b{color:var(--change)}
svg.plot{display:block;width:100%;height:auto}
.plot text{fill:var(--soft);font:12px system-ui,sans-serif}
@media (max-width:40rem){.plot text{font-size:18px}}
.plot .axis{stroke:var(--line)}.plot .parted{stroke:var(--soft);stroke-dasharray:3 4}
.line{fill:none;stroke-width:2}.line.a{stroke:var(--a)}.line.b{stroke:var(--b);stroke-dasharray:7 3}
.dot.a,.bar.a{fill:var(--a)}.dot.b,.bar.b{fill:var(--b)}.dot.shared{fill:var(--soft);opacity:.5}
.key{display:inline-block;min-width:1.5em;text-align:center;border-radius:.25rem;color:var(--ground);font-weight:600}
.key.a{background:var(--a)}.key.b{background:var(--b)}
ol.calls{list-style:none;display:grid;grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));gap:.4rem;margin:1rem 0;padding:0}
ol.calls li{background:var(--card);border:1px solid var(--line);border-radius:.35rem;padding:.3rem .55rem;display:flex;flex-wrap:wrap;justify-content:space-between;gap:.1rem .5rem;min-width:0}
ol.calls b{font-weight:600;color:var(--soft)}
ol.calls .same b,ol.calls .other-order b{color:var(--plus)}ol.calls .bound b,ol.calls .live b{color:var(--a)}
ol.calls .differs,ol.calls .extra{border-color:var(--minus);background:var(--minus-ground)}ol.calls .differs b,ol.calls .extra b{color:var(--minus)}
ol.calls .missing,ol.calls .not-kept{border-style:dashed}
.changed{font-family:ui-monospace,monospace;font-size:.86em;max-height:32rem;overflow:auto;margin:.5rem 0;padding:.4rem .6rem;border-left:.25rem solid var(--line)}
.changed>div{white-space:pre-wrap}.changed .soft{font-family:system-ui,sans-serif}
del{color:var(--minus);background:var(--minus-ground)}ins{color:var(--plus);background:var(--plus-ground)}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.2rem 1rem;margin:.5rem 0 0}dt{color:var(--soft)}dd{margin:0}
summary{cursor:pointer;color:var(--soft)}
details .scroll{max-height:24rem;overflow:auto}
footer{margin-top:3rem;color:var(--soft);font-size:.86em}
`;
