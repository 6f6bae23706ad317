package corpus

// widgetTasks returns tasks with controls that pages make themselves.
func widgetTasks() []Task {
	return []Task{listbox(), slider(), hoverMenu(), contextMenu(), doubleClick(), shadowDOMTask(), stepperTask(), cookieBannerTask(), confirmTask(), promptTask()}
}

func listbox() Task {
	s := newTaskSite(map[string]string{"/{$}": `<div role=listbox aria-label=Size tabindex=0><div role=option>Small</div><div role=option>Medium</div><div role=option>Large</div></div><script>
		const box = document.querySelector('[role=listbox]'); let i = -1; box.focus();
		box.onkeydown = (e) => { if (e.key === 'ArrowDown') i = Math.min(i + 1, 2); if (e.key === 'Enter') note('size ' + box.children[i].textContent);
			[...box.children].forEach((o, n) => o.setAttribute('aria-selected', n === i)) }</script>`})
	return Task{
		Name: "keyboard only", Site: s, Prompt: "Choose the size Medium with the keyboard: nothing there can be clicked.",
		Steps: pressSteps("ArrowDown", "ArrowDown", "Enter"), Check: s.recordedExactly("size Medium"),
	}
}

func slider() Task {
	s := newTaskSite(map[string]string{"/{$}": `<label>Volume <input type=range min=0 max=10 value=5 style="width:200px"></label>
		<button onclick="note('volume ' + document.querySelector('input').value)">Keep</button>`})
	return Task{
		Name: "slider", Site: s, Prompt: "Set the volume to 3 and keep it.",
		Steps: append(append([]Step{clickStep("Volume")}, pressSteps("Home", "ArrowRight", "ArrowRight", "ArrowRight")...), clickStep("Keep")), Check: s.recordedExactly("volume 3"),
	}
}

func hoverMenu() Task {
	s := newTaskSite(map[string]string{"/{$}": `<style>#sub{display:none} #m:hover #sub{display:block}</style>
		<div id=m style="width:200px"><a href="#" role=button>Products</a><div id=sub><a href="/note?t=chairs">Chairs</a></div></div>`})
	return Task{
		Name: "hover menu", Site: s, Prompt: "Open Chairs in the menu Products.",
		Steps: []Step{{Verb: Hover, Name: "Products"}, clickStep("Chairs")}, Check: s.recordedExactly("chairs"),
	}
}

func contextMenu() Task {
	s := newTaskSite(map[string]string{"/{$}": `<button id=f>notes.txt</button><div id=m role=menu hidden><button role=menuitem onclick="note('archived')">Archive</button></div><script>
		f.oncontextmenu = (e) => { e.preventDefault(); m.hidden = false }</script>`})
	return Task{
		Name: "context menu", Site: s, Prompt: "Archive notes.txt by its context menu.",
		Steps: []Step{{Verb: RightClick, Name: "notes.txt"}, clickStep("Archive")}, Check: s.recordedExactly("archived"),
	}
}

func doubleClick() Task {
	s := newTaskSite(map[string]string{"/{$}": `<button id=t>Total</button><script>t.ondblclick = () => note('opened')</script>`})
	return Task{
		Name: "double click", Site: s, Prompt: "Open Total by a double click.",
		Steps: []Step{{Verb: DoubleClick, Name: "Total"}}, Check: s.recordedExactly("opened"),
	}
}

func shadowDOMTask() Task {
	s := newTaskSite(map[string]string{"/{$}": `<like-it></like-it><script>customElements.define('like-it', class extends HTMLElement {
		connectedCallback() { this.attachShadow({mode: 'open'}).innerHTML = '<label>Why <input></label><button>Like</button>';
			this.shadowRoot.querySelector('button').onclick = () => note('liked: ' + this.shadowRoot.querySelector('input').value) } })</script>`})
	return Task{
		Name: "shadow DOM", Site: s, Prompt: "Say that you like it because it is light.",
		Steps: []Step{typeStep("Why", "it is light"), clickStep("Like")}, Check: s.recordedExactly("liked: it is light"),
	}
}

func stepperTask() Task {
	s := newTaskSite(map[string]string{"/{$}": `<button id=a aria-label="One more">+</button><output id=o>0</output><button onclick="note('guests ' + o.value)">Confirm</button>
		<script>a.onclick = () => { o.value++ }</script>`})
	return Task{
		Name: "stepper", Site: s, Prompt: "Confirm three guests.",
		Steps: []Step{clickStep("One more"), clickStep("One more"), clickStep("One more"), clickStep("Confirm")}, Check: s.recordedExactly("guests 3"),
	}
}

func cookieBannerTask() Task {
	s := newTaskSite(map[string]string{"/{$}": `<a href="/note?t=read">Read on</a><div id=c role=dialog aria-modal=true aria-label=Cookies style="position:fixed;inset:0;background:#eee">
		<button onclick="note('all'); c.remove()">Agree to all</button><button onclick="note('none'); c.remove()">Only what is needed</button></div>`})
	return Task{
		Name: "cookie banner", Site: s, Prompt: "Refuse what can be refused, and read on.",
		Steps: []Step{clickStep("Only what is needed"), clickStep("Read on")}, Check: s.recordedExactly("none", "read"),
	}
}

func confirmTask() Task {
	s := newTaskSite(map[string]string{"/{$}": `<button onclick="if (confirm('Forget the draft?')) note('forgotten')">Forget</button>`})
	return Task{
		Name: "confirm dialog", Site: s, Prompt: "Forget the draft.",
		Steps: []Step{clickStep("Forget"), {Verb: Accept}}, Check: s.recordedExactly("forgotten"),
	}
}

func promptTask() Task {
	s := newTaskSite(map[string]string{"/{$}": `<button onclick="note('called ' + prompt('New name?', 'x'))">Rename</button>`})
	return Task{
		Name: "prompt dialog", Site: s, Prompt: "Rename it to Ada.",
		Steps: []Step{clickStep("Rename"), {Verb: Accept, Text: "Ada"}}, Check: s.recordedExactly("called Ada"),
	}
}
