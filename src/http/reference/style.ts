/** CSS of the reference page. It is inlined, so that the page is one response. */
export const STYLE = `
:root{color-scheme:light dark;--ink:#1c2430;--soft:#5a6678;--line:#dfe4ea;--back:#fff;--panel:#f6f8fa;--link:#1558b0;--get:#1b6e3c;--post:#1558b0;--patch:#8a5a00;--delete:#a82020}
@media (prefers-color-scheme:dark){:root{--ink:#e4e9f0;--soft:#9fabbb;--line:#323b47;--back:#14181e;--panel:#1b2129;--link:#7db4ff;--get:#6fcf97;--post:#7db4ff;--patch:#e0b050;--delete:#ff8f8f}}
*{box-sizing:border-box}
html{scroll-padding-top:1rem}
body{margin:0;font:15px/1.55 system-ui,sans-serif;color:var(--ink);background:var(--back);display:grid;grid-template-columns:20rem minmax(0,1fr)}
a{color:var(--link)}
a:focus-visible,summary:focus-visible{outline:2px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:1rem;background:var(--back);padding:.5rem}
header,main{grid-column:2;padding:1.5rem 2.5rem;max-width:60rem}
header{border-bottom:1px solid var(--line)}
nav{grid-column:1;grid-row:1/span 2;position:sticky;top:0;height:100vh;overflow:auto;padding:1.25rem;background:var(--panel);border-right:1px solid var(--line);font-size:13px}
nav h2{font-size:13px;margin:1.1rem 0 .3rem;color:var(--soft)}
nav h2 a{color:inherit;text-decoration:none}
nav ul{list-style:none;margin:0;padding:0}
nav li a{display:grid;grid-template-columns:3.4rem minmax(0,1fr);align-items:baseline;padding:.15rem .3rem;border-radius:4px;text-decoration:none;color:var(--ink)}
nav li a:hover{background:var(--line)}
h1{margin:0 0 .5rem;font-size:1.7rem}
.version{color:var(--soft);font-size:1rem;font-weight:400}
section>h2{margin:2.5rem 0 .25rem;font-size:1.35rem}
article{border-top:1px solid var(--line);padding:1rem 0}
article h3{margin:.2rem 0;font-size:1.05rem}
h4{margin:1rem 0 .2rem;font-size:.85rem;color:var(--soft)}
code,pre{font:13px/1.5 ui-monospace,monospace}
pre{background:var(--panel);padding:.75rem 1rem;overflow:auto;border-radius:6px}
.method{font:600 11px ui-monospace,monospace;display:inline-block;min-width:3.4rem}
.get{color:var(--get)}.post{color:var(--post)}.patch{color:var(--patch)}.delete{color:var(--delete)}
.facts,.limits,.place{color:var(--soft)}
.place{font-size:.8rem}
.type{color:var(--soft)}
.limits{font-size:.85rem}
.need{font-size:.78rem;color:var(--delete)}
.members{list-style:none;margin:.3rem 0;padding:0 0 0 .9rem;border-left:2px solid var(--line)}
.members li{padding:.2rem 0}
.members p{margin:.1rem 0;color:var(--soft)}
.name{font-weight:600}
table{border-collapse:collapse;margin:.4rem 0}
td{padding:.15rem .8rem .15rem 0;vertical-align:top}
summary{cursor:pointer;color:var(--soft)}
@media (max-width:60rem){body{display:block}nav{position:static;height:auto;max-height:40vh;border-right:0}header,main{padding:1rem}}
`;
