package corpus

// pageTasks returns tasks whose pages report to the site what was done.
func pageTasks() []Task {
	var all []Task
	for _, t := range pageTable {
		s := newTaskSite(t.pages)
		all = append(all, Task{Name: t.name, Site: s, Prompt: t.prompt, Steps: t.steps, Check: s.recordedExactly(t.told...)})
	}
	return all
}

// pageTable lists the page tasks: the expected reports to the site after these steps on these pages.
var pageTable = []struct {
	name, prompt string
	pages        map[string]string
	steps        []Step
	told         []string
}{
	{
		"editor", "Replace the draft by: Dear all, it is done. Then save.",
		map[string]string{"/{$}": `<div role=textbox aria-label=Body contenteditable style="min-height:80px;border:1px solid">Draft</div>
			<button onclick="note(document.querySelector('[contenteditable]').innerText.trim())">Save</button>`},
		[]Step{typeStep("Body", "Dear all, it is done."), clickStep("Save")},
		[]string{"Dear all, it is done."},
	},
	{
		"date picker", "Pick 14 June.",
		map[string]string{"/{$}": `<button id=open>Pick a date</button><div id=cal hidden><button id=next>Next month</button><b id=m>May</b><div id=days></div></div><script>
			const draw = () => { days.innerHTML = ''; for (let d = 1; d <= 30; d++) { const b = document.createElement('button'); b.textContent = d; b.ariaLabel = m.textContent + ' ' + d;
				b.onclick = () => { cal.hidden = true; note('date ' + b.ariaLabel) }; days.append(b) } };
			document.getElementById('open').onclick = () => { cal.hidden = false; draw() };
			next.onclick = () => { m.textContent = 'June'; draw() }</script>`},
		[]Step{clickStep("Pick a date"), clickStep("Next month"), clickStep("June 14")},
		[]string{"date June 14"},
	},
	{
		"table sort", "Sort by price, the dearest first.",
		map[string]string{"/{$}": `<table><thead><tr><th><button id=p>Price</button></th></tr></thead><tbody id=b><tr><td>30<tr><td>10<tr><td>20</table><script>
			let dir = -1; p.onclick = () => { dir = -dir; b.append(...[...b.rows].sort((x, y) => dir * (x.innerText - y.innerText))); note([...b.rows].map((r) => r.innerText.trim()).join(' ')) }</script>`},
		[]Step{clickStep("Price"), waitStep("10"), clickStep("Price")},
		[]string{"10 20 30", "30 20 10"},
	},
	{
		"accordion", "Open the return form.",
		map[string]string{"/{$}": `<details><summary>Shipping</summary><a href="/note?t=shipping">Prices abroad</a></details>
			<details><summary>Returns</summary><a href="/note?t=returns">Return form</a></details>`},
		[]Step{clickStep("Returns"), clickStep("Return form")},
		[]string{"returns"},
	},
	{
		"slider", "Set the volume to 3 and keep it.",
		map[string]string{"/{$}": `<label>Volume <input type=range min=0 max=10 value=5 style="width:200px"></label>
			<button onclick="note('volume ' + document.querySelector('input').value)">Keep</button>`},
		append(append([]Step{clickStep("Volume")}, pressSteps("Home", "ArrowRight", "ArrowRight", "ArrowRight")...),
			clickStep("Keep")),
		[]string{"volume 3"},
	},
	{
		"hover menu", "Open Chairs in the menu Products.",
		map[string]string{"/{$}": `<style>#sub{display:none} #m:hover #sub{display:block}</style>
			<div id=m style="width:200px"><a href="#" role=button>Products</a><div id=sub><a href="/note?t=chairs">Chairs</a></div></div>`},
		[]Step{{Verb: Hover, Name: "Products"}, clickStep("Chairs")},
		[]string{"chairs"},
	},
	{
		"context menu", "Archive notes.txt by its context menu.",
		map[string]string{"/{$}": `<button id=f>notes.txt</button><div id=m role=menu hidden><button role=menuitem onclick="note('archived')">Archive</button></div><script>
			f.oncontextmenu = (e) => { e.preventDefault(); m.hidden = false }</script>`},
		[]Step{{Verb: RightClick, Name: "notes.txt"}, clickStep("Archive")},
		[]string{"archived"},
	},
	{
		"double click", "Open Total by a double click.",
		map[string]string{"/{$}": `<button id=t>Total</button><script>t.ondblclick = () => note('opened')</script>`},
		[]Step{{Verb: DoubleClick, Name: "Total"}},
		[]string{"opened"},
	},
	{
		"shadow DOM", "Say that you like it because it is light.",
		map[string]string{"/{$}": `<like-it></like-it><script>customElements.define('like-it', class extends HTMLElement {
			connectedCallback() { this.attachShadow({mode: 'open'}).innerHTML = '<label>Why <input></label><button>Like</button>';
				this.shadowRoot.querySelector('button').onclick = () => note('liked: ' + this.shadowRoot.querySelector('input').value) } })</script>`},
		[]Step{typeStep("Why", "it is light"), clickStep("Like")},
		[]string{"liked: it is light"},
	},
	{
		"stepper", "Confirm three guests.",
		map[string]string{"/{$}": `<button id=a aria-label="One more">+</button><output id=o>0</output><button onclick="note('guests ' + o.value)">Confirm</button>
			<script>a.onclick = () => { o.value++ }</script>`},
		[]Step{clickStep("One more"), clickStep("One more"), clickStep("One more"), clickStep("Confirm")},
		[]string{"guests 3"},
	},
	{
		"cookie banner", "Refuse what can be refused, and read on.",
		map[string]string{"/{$}": `<a href="/note?t=read">Read on</a><div id=c role=dialog aria-modal=true aria-label=Cookies style="position:fixed;inset:0;background:#eee">
			<button onclick="note('all'); c.remove()">Agree to all</button><button onclick="note('none'); c.remove()">Only what is needed</button></div>`},
		[]Step{clickStep("Only what is needed"), clickStep("Read on")},
		[]string{"none", "read"},
	},
	{
		"confirm dialog", "Forget the draft.",
		map[string]string{"/{$}": `<button onclick="if (confirm('Forget the draft?')) note('forgotten')">Forget</button>`},
		[]Step{clickStep("Forget"), {Verb: Accept}},
		[]string{"forgotten"},
	},
	{
		"prompt dialog", "Rename it to Ada.",
		map[string]string{"/{$}": `<button onclick="note('called ' + prompt('New name?', 'x'))">Rename</button>`},
		[]Step{clickStep("Rename"), {Verb: Accept, Text: "Ada"}},
		[]string{"called Ada"},
	},
	{
		"popup", "Press Seven on the calculator.",
		map[string]string{
			"/{$}":  `<button onclick="open('/calc', '', 'width=400,height=300')">Calculator</button>`,
			"/calc": `<button onclick="note('seven')">Seven</button>`,
		},
		[]Step{clickStep("Calculator"), clickStep("Seven")},
		[]string{"seven"},
	},
	{
		"tabs", "Mark the terms as seen, close them and agree.",
		map[string]string{
			"/{$}":   `<a href=/terms target=_blank>Terms</a><button onclick="note('agreed')">Agree</button>`,
			"/terms": `<h1>Terms</h1><button onclick="note('seen')">Mark as seen</button>`,
		},
		[]Step{clickStep("Terms"), clickStep("Mark as seen"), {Verb: CloseTab}, clickStep("Agree")},
		[]string{"seen", "agreed"},
	},
	{
		"drag and drop", `Drag "Write report" to Done.`,
		map[string]string{"/{$}": `<div draggable=true tabindex=0 role=button aria-label="Write report" style="width:120px;height:40px;background:#fc9">Write report</div>
			<div role=region aria-label=Done tabindex=0 style="margin-top:60px;width:200px;height:120px;background:#cfc">Done</div><script>
			const [card, done] = document.querySelectorAll('div');
			card.ondragstart = (e) => e.dataTransfer.setData('text/plain', card.textContent);
			done.ondragover = (e) => e.preventDefault();
			done.ondrop = (e) => { e.preventDefault(); note('done: ' + e.dataTransfer.getData('text/plain')); done.append(card) }</script>`},
		[]Step{{Verb: Drag, Name: "Write report", To: "Done"}},
		[]string{"done: Write report"},
	},
	{
		"puzzle", "Drag the piece into the gap.",
		map[string]string{"/{$}": `<button id=p aria-label=Piece style="position:absolute;left:20px;top:20px;width:50px;height:50px">P</button>
			<button id=q aria-label=Gap style="position:absolute;left:300px;top:180px;width:60px;height:60px;z-index:-1">G</button><script>
			p.onpointerdown = (e) => { p.setPointerCapture(e.pointerId); p.onpointermove = (m) => { p.style.left = m.clientX - 25 + 'px'; p.style.top = m.clientY - 25 + 'px' } };
			p.onpointerup = () => { p.onpointermove = null; const a = p.getBoundingClientRect(), b = q.getBoundingClientRect();
				note(Math.hypot(a.x + a.width / 2 - b.x - b.width / 2, a.y + a.height / 2 - b.y - b.height / 2) < 3 ? 'fits' : 'misses') }</script>`},
		[]Step{{Verb: Drag, Name: "Piece", To: "Gap"}},
		[]string{"fits"},
	},
	{
		"several", "Invite Anna and Cleo.",
		map[string]string{"/{$}": `<div role=listbox aria-multiselectable=true><div role=option>Anna</div><div role=option>Bert</div><div role=option>Cleo</div></div>
			<button onclick="note([...document.querySelectorAll('.on')].map((e) => e.textContent).join(' '))">Invite</button><script>
			const all = [...document.querySelectorAll('[role=option]')];
			for (const o of all) o.onclick = (e) => { if (!e.ctrlKey) all.forEach((x) => x.classList.remove('on')); o.classList.add('on') }</script>`},
		[]Step{clickStep("Anna"), {Verb: Click, Name: "Cleo", Held: "Control"}, clickStep("Invite")},
		[]string{"Anna Cleo"},
	},
}
